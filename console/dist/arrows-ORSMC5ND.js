function b(r){let s=()=>[...r.querySelectorAll("button")],a=r.closest(".finder")??r,n,c=()=>{let t=s();(!n||!r.contains(n))&&(n=t.find(e=>e.ariaPressed==="true")??t[0]);for(let e of t)e.tabIndex!==(e===
n?0:-1)&&(e.tabIndex=e===n?0:-1)},u=t=>{let e=t.target.closest("button");!e||e===n||(n&&(n.tabIndex=-1),n=e,e.tabIndex=0)},i=t=>{if(t.ctrlKey||t.altKey||t.metaKey)return;let e=s(),o=e.indexOf(t.target),
l=t.key==="ArrowDown"&&t.target.matches(".search input"),f={ArrowDown:o+1,ArrowUp:o-1,Home:0,End:e.length-1}[t.key];if(l)n?.focus();else{if(o<0)return;if(f!==void 0)e[f]?.focus();else if(e[o].ariaExpanded===
{ArrowRight:"false",ArrowLeft:"true"}[t.key])e[o].click();else return}t.preventDefault()},d=new MutationObserver(c);return d.observe(r,{childList:!0,subtree:!0}),r.addEventListener("focusin",u),a.addEventListener(
"keydown",i),c(),()=>{d.disconnect(),r.removeEventListener("focusin",u),a.removeEventListener("keydown",i)}}export{b as walk};
