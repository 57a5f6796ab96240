import{F as r,G as t,k as o}from"./chunk-KDDMCHQW.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-ZKVZF5NO.js").catch(()=>{});
