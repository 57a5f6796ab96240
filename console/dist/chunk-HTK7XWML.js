import{f as o,y as r,z as t}from"./chunk-6UDEE4JO.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&a!=="server"&&import("./lazy_pages-PXUJ7QV6.js").catch(()=>{});
