import{H as r,I as t,k as o}from"./chunk-6NP3PAMF.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-WO7CIYZ3.js").catch(()=>{});
