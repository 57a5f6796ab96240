import{O as r,Q as t,k as o}from"./chunk-7QPIL4KG.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-6SXV4QY6.js").catch(()=>{});
