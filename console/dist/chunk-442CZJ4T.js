import{O as r,Q as t,k as o}from"./chunk-SIXJBQHM.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-BVIWAZQK.js").catch(()=>{});
