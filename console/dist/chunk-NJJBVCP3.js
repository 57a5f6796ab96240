import{f as o,x as r,y as t}from"./chunk-WIRL5KY3.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&a!=="server"&&import("./more-WH2BWFTI.js").catch(()=>{});
