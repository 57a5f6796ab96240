import{F as r,G as t,k as o}from"./chunk-C2H55TMR.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-XNCRFJVX.js").catch(()=>{});
