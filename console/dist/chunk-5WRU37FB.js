import{D as r,E as t,k as o}from"./chunk-SFRQD3YE.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-QMZPXYEV.js").catch(()=>{});
