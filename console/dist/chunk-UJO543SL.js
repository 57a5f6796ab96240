import{H as r,I as t,k as o}from"./chunk-6NP3PAMF.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-2XXP5C5A.js").catch(()=>{});
