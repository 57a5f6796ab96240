import{H as r,I as t,k as o}from"./chunk-ID7GUQ4E.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-GBBV4AQE.js").catch(()=>{});
