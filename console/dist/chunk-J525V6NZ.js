import{f as o,x as r,y as t}from"./chunk-6HXGSEI3.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&a!=="server"&&import("./lazy_pages-FLXVWDIZ.js").catch(()=>{});
