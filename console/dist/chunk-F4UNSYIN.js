import{G as r,H as t,k as o}from"./chunk-UFALDGWE.js";t(location.hash).forEach(o);var{page:a}=r(location.hash);a!=="explore"&&import("./lazy_pages-JVYFKRRP.js").catch(()=>{});
