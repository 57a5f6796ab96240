import{f as o,y as r,z as t}from"./chunk-6UDEE4JO.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-LCKE2R2R.js").catch(()=>{});
