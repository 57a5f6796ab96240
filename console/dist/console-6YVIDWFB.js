import"./chunk-44FKYCQB.js";import{$ as lt,B as Ve,C as E,D as He,E as Ze,F as Je,H as ce,I as de,J as Ke,K,L as Ye,M as pe,N as Xe,O as et,P as tt,Q as rt,S as A,T as ue,U as nt,V as ot,W as at,
X as it,Z as ge,_ as st,a as ie,aa as C,b as se,ba as fe,c as De,d as N,da as mt,ea as ct,f as le,fa as dt,i as t,j as k,k as Se,l as Ue,m as We,o as J,p as Ae,q as Qe,r as R,s as O,t as _,u as y,v as F,
w as me,x as W,y as Ge}from"./chunk-3B2XQ335.js";import{b as j,c as Ee,d as v,e as $,f as oe,g as U,h as z,j as ae,k as Le,m as Be,n as Ie,o as ke}from"./chunk-P5ZYTAEV.js";import{F as Fe,
m as xe,n as _e}from"./chunk-UFALDGWE.js";var pt="./icon-CQTSC6ED.svg";function ut(){let e=ae.use(),[r,a]=v(""),[m,o]=v(""),[n,i]=v(""),[c,d]=v(e.credentials==="token");return t("form",{class:"sign-in panel",onSubmit:async s=>{s.preventDefault();try{await Be(e.credentials,
c?"":r,m)}catch(u){let f=e.credentials==="token"?"Wrong token or secret":"Wrong user or password";i(u.status===401?f:u.message)}},children:[t("h1",{children:"Sign in"}),e.expired&&!n&&t("p",{class:"no\
tice",role:"status",children:"Your sign-in has expired. Please sign in again; the page goes on where you were."}),n&&t("p",{class:"notice bad",role:"alert",children:n}),!c&&t("label",{children:[e.credentials===
"token"?"Application credential":"User",t("input",{name:"user",value:r,onInput:s=>a(s.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),e.credentials!=="name"&&t("label",{children:[
c?"Keystone token":e.credentials==="token"?"Secret":"Password",t("input",{name:"secret",type:"password",value:m,onInput:s=>o(s.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),
t("button",{type:"submit",class:"main",children:"Sign in"}),e.credentials==="token"&&t("button",{type:"button",class:"plain",onClick:()=>d(!c),children:c?"Use an application credential":"Use a token"}),
e.credentials==="name"&&t("p",{class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}var Lt=C(()=>import("./lazy_pages-MLHRCA4N.js").then(e=>e.Changed)),Bt=4,It=5e3;function ht({metrics:e}){let{params:r}=O.use(),[a]=v(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),m=e.some(K),o=m&&(r.get("agg")??"rate")==="rate",n=e.every(l=>Ye(l)==="rate:mean")?"rate:mean":"mean",i=!o&&r.get("agg")||n,c=r.get("g"),d=e.length<=Bt,g=d&&i==="mean"&&!o,s=[...new Set(e.flatMap(
l=>l.policy.methods.filter(h=>/^[\d.]+pct$/.test(h))))].sort((l,h)=>parseFloat(l)-parseFloat(h)),u={cmp:!0,pct:d&&s.length>0&&!o,raw:d&&!o},f=l=>u[l]&&r.get(l)==="1",x=A(e),b=F(r,x),w=Math.min(...e.map(
l=>l.policy.items[0].granularity)),{value:p,error:M,loading:Q}=R(async l=>{let h=async(re,Ot)=>{let{from:Z,to:ye,span:Pe}=re,je=P=>c&&P.items.find(ne=>ne.granularity===+c)||de(P,Z,ye,a,nt(e)),qt=[i,...g?
["min","max"]:[],...f("pct")?s:[]],Oe=f("raw")&&e.some(P=>Pe/P.policy.items[0].granularity>It),qe=(P,ne,Ne)=>o?pe(e,ne,Ne,je,l):Ke(e,P,ne,Ne,je,l),[Nt,_t,Ft]=await Promise.all([qe(qt,Z,ye),f("cmp")?qe(
[i],Z-Pe,Z):[],f("raw")&&!Oe?Promise.all(e.map(P=>ot(P.id,Z,ye,l))):[]]);return{range:re,columns:Nt,before:_t,raw:Ft,method:i,tooMany:Oe,newest:Ot}},D=F(r,x),ve=await h(D,null);if(ve.columns.some(re=>re.
times.length))return ve;let te=await ue(e,D.from,l);if(!te||r.has("from"))return{...ve,newest:te};let Te=te+w;return h({...D,from:Te-D.span,to:Te},te)},[e,i,o,c,...["from","to","live","cmp","pct","raw"].
map(l=>r.get(l))],b.live?me(r,Math.min(30,Math.max(1,w))):0),G=z(()=>p?At(p):[],[p]),S=mt(G),L=z(()=>S.shown.map(l=>g&&!l.derived?{...l,low:p.columns[l.color].values.min,high:p.columns[l.color].values.
max}:l),[S.shown,g]),q=[...new Set(e.flatMap(l=>l.policy.methods))].sort((l,h)=>gt(l)-gt(h)||l.localeCompare(h,"en",{numeric:!0})),Y=[...new Set(e.flatMap(l=>l.policy.items.map(h=>h.granularity)))].sort(
(l,h)=>l-h),B=new Set(e.map(l=>{let h=se(l.name??"",l.unit);return o&&K(l)?ie(h):h})),jt=B.size===1?[...B][0]:"",I=W(),X=st(r,jt),ee=r.get("view")==="table",V=Ge(r),H=e.length===1?e[0].name??e[0].id:`${e.
length} metrics`,T=p?.range??b,be=(l,h)=>y({from:String(Math.floor(l)),to:String(Math.ceil(h))}),we=(l,h,D)=>u[l]&&t("button",{type:"button","aria-pressed":f(l),title:D,onClick:()=>y({[l]:f(l)?null:"1"}),
children:h});return t(j,{children:[t(fe,{range:T,children:t("span",{class:"aside",children:[t("label",{children:["Show"," ",t("select",{"aria-label":"Aggregation method",value:o?"rate":i,onChange:l=>y(
{agg:l.currentTarget.value===(m?"rate":n)?null:l.currentTarget.value}),children:[m&&t("option",{children:"rate"}),(q.includes(i)?q:[i,...q]).map(l=>t("option",{children:l},l))]})]}),t("label",{children:[
"of"," ",t("select",{"aria-label":"Granularity",value:c??"",onChange:l=>y({g:l.currentTarget.value||null}),children:[t("option",{value:"",children:"what fits"}),Y.map(l=>t("option",{value:String(l),children:N(
l)},l))]})]})]})}),M&&t(k,{bad:!0,children:M}),t(We,{title:H,id:"drawn",aside:t(j,{children:[m&&t("button",{type:"button","aria-pressed":o,title:"What counters grow by in a second, instead of what the\
y stand at",onClick:()=>y({agg:o?n:null}),children:"Rate"}),we("cmp","Before",`Compare with the ${N(Math.round(T.span))} before`),we("pct","Percentiles",s.join(", ")),we("raw","Raw","Single measures, \
as far as they are kept"),t("button",{type:"button","aria-pressed":!!V,title:"Mark a time, and see which metrics moved most",onClick:()=>y({w:V?null:Ut(T)}),children:"What changed here?"}),t("button",
{type:"button","aria-pressed":ee,onClick:()=>y({view:ee?null:"table"}),children:"Table"}),t(lt,{axis:X}),t(Qe,{title:"Copy",children:[t(Gt,{metrics:e,columns:p?.columns,method:i,range:T}),!ee&&t("butt\
on",{type:"button",onClick:()=>{import("./lazy_pages-MLHRCA4N.js").then(({picture:l})=>l("drawn",H,L,`${le(T.from,I)} \u2013 ${le(T.to,I)} ${I}`)).then(l=>Ae(l,H+".png"))},children:"PNG"})]})]}),children:[
p&&t("p",{class:"hint",id:"archive","data-from":p.range.from,children:Qt(p)}),p?.newest&&t(k,{children:["Newest measure ",le(p.newest,I),p.newest<p.range.from?": ":", and none since",p.newest<p.range.
from&&t("button",{type:"button",onClick:()=>be(p.newest+w-x,p.newest+w),children:"Show it"})]}),p&&(ee?t(dt,{rows:G,unit:X.unit,zone:I,name:H}):t(ge,{lines:L,from:T.from,to:T.to,height:340,...X,zone:I,
title:H,shades:Wt(V),onZoom:(l,h)=>V?y({w:`${Math.floor(l)}-${Math.ceil(h)}`}):be(l,h),onPan:be})),!p&&Q&&t("p",{class:"hint",children:"Reading \u2026"})]}),V&&t(Lt,{}),p&&t(ct,{rows:G,unit:X.unit,legend:S,
onRemove:l=>y({m:e.map(h=>h.id).filter(h=>h!==l)}),href:l=>_("metric",{id:l})})]})}var Dt=["mean","max","min","sum","count","last","first","median","std"],gt=e=>Dt.indexOf(e)+1||99,Ut=({from:e,to:r})=>`${Math.
floor(r-(r-e)/3)}-${Math.ceil(r)}`,Wt=e=>e?[{from:2*e.from-e.to,to:e.from,faint:!0},e]:[];function At({range:e,columns:r,before:a,raw:m,method:o}){let n=E(r.map(c=>c.metric)),i=r.map((c,d)=>ft(c,d,o,n[d]));
return r.forEach((c,d)=>{let{id:g,label:s}=i[d];for(let[u,f]of Object.entries(c.values))u!==o&&/pct$/.test(u)&&i.push({...i[d],id:g+u,label:`${s} ${u}`,values:f,look:"dotted",derived:!0});a[d]&&i.push(
{...ft(a[d],d,o,n[d]),id:g+"before",label:`${s}, ${N(Math.round(e.span))} before`,times:a[d].times.map(u=>u+e.span),look:"dashed",derived:!0}),m[d]?.times.length&&i.push({...i[d],id:g+"raw",label:`${s}\
, measures`,...m[d],look:"dots",derived:!0})}),i}function ft(e,r,a,m){let[o,n]=a in e.values?[a,e.values[a]]:Object.entries(e.values)[0]??[a,[]];return{id:e.metric.id,label:m+(o===a||o==="rate"?"":` (${o}\
)`),color:r,times:e.times,values:n,step:e.item.granularity}}function Qt({columns:e,method:r,raw:a,tooMany:m}){let o=new Set(e.map(i=>{let c=r in i.values?r:Object.keys(i.values)[0]??r;return c==="rate"?
`rate a second, by ${N(i.item.granularity)} (archive policy ${i.metric.policy.name})`:`${c} of ${N(i.item.granularity)}, kept for ${N(i.item.timespan)} (archive policy ${i.metric.policy.name})`})),n=a.
length?a.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"Drawn from "+[...o].join("; ")+(m?"; zoom in to see raw measure\
s":n)}function Gt({metrics:e,columns:r,method:a,range:m}){let o=Math.floor(m.from),n=Math.ceil(m.to),i=e[0],c=r?.[0]?.item.granularity??i.policy.items[0].granularity,d=`start=${o}&stop=${n}&granularit\
y=${c}&aggregation=${encodeURIComponent(a)}`,g=s=>e.map(s).join(`
`);return t(j,{children:[t(J,{label:"curl",title:"Copy as curl",text:g(s=>`curl -u USER: '${ke(`/v1/metric/${s.id}/measures?${d}`)}'`)}),t(J,{label:"Python",title:"Copy as Python",text:Vt(e.map(s=>s.id),
d)}),t(J,{label:"gnocchi",title:"Copy for Gnocchi's client",text:g(s=>`gnocchi measures show ${s.id} --aggregation ${a} --granularity ${c} --start ${o} --stop ${n}`)}),t(J,{label:"PromQL",title:"Copy \
as PromQL",text:e.map(ze).join(" or ")})]})}var Vt=(e,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(e)}:
    request = urllib.request.Request(${JSON.stringify(ke("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,ze=e=>`{${[xe(e.name??""),...e.resource?[`resource_id=${xe(e.resource)}`]:[]].join(", ")}}`;var he=4,Me=40;function vt(e){let{text:r,labels:a}=Fe(e),m=!r&&!a.length&&!e.has("m")&&!e.has("q"),[o,n]=v(!1),i=[r,a.join(`
`)],c=o?1:15,{value:d,error:g}=R(b=>ce(r,a,b),i,c),{value:s,error:u}=R(b=>Ze(r,a,b),i,c),{value:f}=R(b=>Je(r,a,b),i,c),x=m&&d?.length===0;return $(()=>n(x),[x]),{text:r,labels:a,series:d,counts:s,names:f,
error:g??u,empty:x}}function yt({finder:e,chosen:r}){let{text:a,labels:m,series:o,counts:n,names:i,error:c}=e,[d,g]=v(a),s=U(a);$(()=>{a!==s.current&&(s.current=a,g(a))},[a]),$(()=>{if(d===s.current)return;
let b=setTimeout(()=>{s.current=d,y({find:d||null},!0)},150);return()=>clearTimeout(b)},[d]);let u=Yt(a+`
`+m.join(`
`),i?.counts.length??0),f=z(()=>i?.counts.slice(0,u).map(({name:b,value:w})=>t(Ht,{name:b,value:w,text:a,labels:m,chosen:r,first:o?.find(p=>p.name===b)},b)),[i,o,r,u,a,m.join(`
`)]),x=n?er(n,m):[];return t("aside",{class:"panel finder","aria-label":"Find metrics",children:[t("div",{class:"search",children:[t("input",{type:"search",placeholder:"Find metrics","aria-label":"Fin\
d metrics by name",value:d,onInput:b=>g(b.currentTarget.value)}),t("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>y({q:r.map(ze).join(" or "),m:null,
agg:null,g:null}),children:"\u0192(x)"})]}),t("div",{class:"facets",children:x.slice(0,he).map(b=>t(bt,{facet:b,labels:m},b.name))}),x.length>he&&t("details",{class:"more",children:[t("summary",{children:[
x.length-he," more labels"]}),t("div",{class:"facets",children:x.slice(he).map(b=>t(bt,{facet:b,labels:m},b.name))})]}),c&&t(k,{bad:!0,children:c}),n&&t("p",{class:"hint",id:"found",children:n.total===
1?"1 metric":`${n.total.toLocaleString("en")} metrics`}),t("ul",{class:"found",children:[f,i&&u>=i.counts.length&&i.values>i.counts.length&&t("li",{class:"hint",children:["and ",(i.values-i.counts.length).
toLocaleString("en")," more names: type, or choose above, to narrow"]})]})]})}function bt({facet:{name:e,values:r,counts:a},labels:m}){let o=m.find(([n])=>n===e)?.[1]??"";return t("select",{"aria-labe\
l":wt(e),"data-label":e,value:o,onChange:n=>y({l:[...m.filter(([i])=>i!==e),...n.currentTarget.value?[[e,n.currentTarget.value]]:[]].map(i=>i.join("="))}),children:[t("option",{value:"",children:wt(e)}),
o&&!a.some(n=>n.name===o)&&t("option",{value:o,children:o}),a.map(n=>t("option",{value:n.name,children:[n.name," (",n.value.toLocaleString("en"),")"]},n.name)),r>a.length&&t("option",{disabled:!0,children:[
"and ",(r-a.length).toLocaleString("en")," more"]})]})}var xt=(e,r)=>{let a=e.map(m=>m.id);y({q:null,lang:null,m:a.includes(r)?a.filter(m=>m!==r):[...a,r]})};function Ht({name:e,value:r,text:a,labels:m,
chosen:o,first:n}){let[i,c]=v(!1),d=o.some(s=>s.id===n?.id||s.name===e),g=async()=>{let s=n?.id??(await ce(a,[...m,["__name__",e]]))[0]?.id;s&&xt(o,s)};return t("li",{children:[t("button",{type:"butto\
n","aria-pressed":r===1||d?d:void 0,"aria-expanded":r>1?i:void 0,title:n&&r===1?zt(n):e,onClick:()=>r>1?c(!i):void g(),children:[t("span",{children:[r>1&&t("i",{class:"turn",children:i?"\u25BE":"\u25B8"}),
kt(e)]}),t("small",{children:r>1?r.toLocaleString("en"):n&&Mt(n)})]}),i&&r>1&&t(Zt,{name:e,value:r,text:a,labels:m,chosen:o})]})}function Zt({name:e,text:r,labels:a,chosen:m}){let{value:o,error:n}=R(s=>ce(
r,[...a,["__name__",e]],s),[e,r,a.join(`
`)]),i=z(()=>{let s=E(o??[]).map(u=>u.slice(e.length).replace(/^ · /,""));return(o??[]).map((u,f)=>({s:u,title:s[f]||Mt(u)||u.id})).sort((u,f)=>Kt(u.title,f.title))},[o]);if(n)return t(k,{bad:!0,children:n});
if(!o)return t("p",{class:"hint",children:"Reading \u2026"});let c=i.slice(0,Me),d=_e("",[...a,["__name__",e]]),g=(s,u=null)=>y({q:s,view:u,lang:null,m:null,agg:null});return t("ul",{children:[e.endsWith(
"_bucket")&&t("li",{children:t("button",{type:"button",class:"all",onClick:()=>g(et(d)),children:"Quantiles 0.5, 0.9, 0.99"})}),e.endsWith("_bucket")&&Jt(o).map(s=>t("li",{children:t("button",{type:"b\
utton",class:"all",onClick:()=>g(tt(d,s)),children:["99th percentile by ",s]})},s)),o.length>1&&!e.endsWith("_bucket")&&t("li",{children:t("button",{type:"button",class:"all",onClick:()=>{Xe(o,d).then(
s=>g(s,"instant"))},children:"Highest now"})}),t("li",{children:t("button",{type:"button",class:"all",onClick:()=>y({q:null,lang:null,m:c.map(({s})=>s.id)}),children:o.length>Me?`The first ${Me} on on\
e chart`:`All ${o.length} on one chart`})}),i.map(({s,title:u})=>t("li",{children:t("button",{type:"button","aria-pressed":m.some(f=>f.id===s.id),title:zt(s),onClick:()=>xt(m,s.id),children:t("span",{
children:kt(u)})})},s.id))]})}function Jt(e){let r=new Map;for(let{labels:o}of e)for(let[n,i]of Object.entries(o))r.set(n,(r.get(n)??new Set).add(i));let a=[...r].filter(([o,n])=>n.size>1&&!Ct.has(o)).
map(([o])=>o),m=o=>$e.indexOf(o)+1||9;return a.sort((o,n)=>m(o)-m(n)).slice(0,3)}var Kt=new Intl.Collator("en",{numeric:!0}).compare,kt=e=>e.split(/(?<=[_./,:=])/).flatMap((r,a)=>a?[t("wbr",{},a),r]:[
r]);function Yt(e,r){let[a,m]=v({of:e,lines:Ce}),o=a.of===e?a.lines:Ce;return $(()=>{if(o>=r)return;let n=0,i=setTimeout(()=>{n=requestIdleCallback(()=>m({of:e,lines:o+Xt}),{timeout:1e3})},o===Ce?250:
0);return()=>{clearTimeout(i),cancelIdleCallback(n)}},[e,o,r]),o}var Ce=40,Xt=65,St={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"\
User"},wt=e=>St[e]??e,zt=e=>[e.name,e.resource,e.place[""],...Object.entries(e.labels).map(([r,a])=>`${r}=${a}`)].filter(Boolean).join(`
`),Mt=e=>e.place[""]??e.labels.instance??e.labels.job??"",$e=["job","instance","resource_type","project_id","original_resource_id"],Ct=new Set(["le","quantile"]);function er(e,r){let a=new Set(r.map(([
n])=>n)),m=n=>a.has(n.name)?0:$e.includes(n.name)?1+$e.indexOf(n.name):n.name in St?99:Ct.has(n.name)?98:9,o=n=>n.counts.reduce((i,c)=>i+c.value,0);return e.facets.filter(n=>a.has(n.name)||n.values>1||
n.counts[0].value<e.total).sort((n,i)=>m(n)-m(i)||o(i)-o(n))}var $t=12,tr=3,rr=8,nr=340;function Rt({finder:e}){let{params:r}=O.use(),a=z(()=>or(e.series??[]),[e.series]),m=a.flatMap(([,g])=>g),o=U(1),{value:n,error:i}=R(async g=>{let s=new Map((await He(m)).map(
w=>[w.id,w])),u=async(w,p,M)=>{let Q=await pe(w.flat(),p.from,p.to,S=>de(S,p.from,p.to,nr,M),g),G=new Map(Q.map(S=>[S.metric.id,S]));return Promise.all(w.map(async S=>{let L=S.flatMap(B=>G.get(B.id)??
[]);if(M||r.has("from")||L.some(B=>B.times.length))return{range:p,columns:L};let q=await ue(S,p.from,g);if(!q)return{range:p,columns:L};let Y=q+p.span/60;return(await u([S],{...p,from:Y-p.span,to:Y},q))[0]}))};
o.current=Math.min(10,...[...s.values()].map(w=>w.policy.items[0].granularity));let f=new Map,x=[];for(let[,w]of a){let p=w.flatMap(M=>s.get(M.id)??[]);if(p.length&&w[0].labels.le&&/_bucket$/.test(w[0].
name)){let M=F(r,A(p));x.push(rt(p[0],e.labels,M.from,M.to,g).then(Q=>({range:M,...Q})))}else p.length&&f.set(A(p),[...f.get(A(p))??[],p])}let b=await Promise.all([...[...f].map(([w,p])=>u(p,F(r,w))),
...x]);return new Map(b.flat().map(w=>[w.columns[0]?.metric.id??"",w]))},[a,r.get("from"),r.get("to")],me(r,Math.max(1,o.current))),[c,d]=v(!1);return $(()=>{if(!n||c)return;let g=setTimeout(()=>d(!0));
return()=>clearTimeout(g)},[n,c]),e.series?a.length?t(j,{children:[i&&t(k,{bad:!0,children:i}),(e.text||e.labels.length>0||r.has("from"))&&t(fe,{range:[...n?.values()??[]][0]?.range??F(r)}),t("div",{class:"\
tiles",children:a.slice(0,c?$t:tr).map(([g,s])=>n&&t(ar,{name:g,drawn:s.map(u=>n.get(u.id)).find(Boolean)},s[0].id))})]}):t(k,{children:"No metric is called like that."}):e.error?null:t(k,{children:"L\
ooking for metrics \u2026"})}function or(e){let r=new Map;for(let o of e){let n=o.resource+"/"+o.name.replace(/\d+/g,"#"),i=r.get(n)??[];if(i.length<rr&&r.set(n,[...i,o]),r.size>$t){r.delete(n);break}}
let a=[...r.values()],m=E(a.map(o=>({...o[0],name:o.length>1?o[0].name.replace(/\d+/g,"*"):o[0].name})));return a.map((o,n)=>[m[n],o])}function ar({name:e,drawn:r}){if(!r?.columns.length)return null;let{
columns:a,range:m,query:o}=r,n=se(e,a[0].metric.unit),i=K(a[0].metric)?ie(n):n,c=E(a.map(s=>s.metric)),d=a.map((s,u)=>({label:c[u],color:u,times:s.times,values:Object.values(s.values)[0]??[],step:s.item.
granularity})),g=d.map(s=>s.values.at(-1)).filter(s=>s!=null);return t("a",{class:"panel tile",href:_("explore",o?{q:o}:{m:a.map(s=>s.metric.id)}),"data-name":e,children:[t("header",{children:[t("h3",
{title:e,children:e}),t("span",{class:"now",children:[g.slice(0,3).map(s=>De(s,i,3)).join(" \xB7 "),g.length>3&&" \u2026"]})]}),t(ge,{lines:d,from:m.from,to:m.to,height:130,unit:i,zone:W(),title:e,small:!0})]})}var ir=C(()=>import("./lazy_pages-MLHRCA4N.js").then(e=>e.First)),sr=C(()=>import("./lazy_pages-MLHRCA4N.js").then(e=>e.QueryView));function Tt(){let{params:e}=O.use(),r=vt(e),a=e.getAll("m"),m=a.join(),
[o,n]=v([]),[i,c]=v("");oe(()=>{let g=!0;return c(""),Ve(a).then(s=>{if(!g)return;n(s.flatMap(f=>f.status==="fulfilled"?[f.value]:[]));let u=s.find(f=>f.status==="rejected");u&&c(u.reason.message)}),()=>{
g=!1}},[m]);let d=z(()=>o.filter(g=>a.includes(g.id)),[o,m]);return r.empty?t(ir,{}):t("div",{class:a.length||e.has("q")?"split drawn":"split",children:[t(yt,{finder:r,chosen:d}),t("div",{children:[i&&
t(k,{bad:!0,children:i}),e.has("q")?t(sr,{}):a.length?d.length>0&&t(ht,{metrics:d}):t(Rt,{finder:r})]})]})}var Pt=[{name:"explore",title:"Explore",page:Tt},{name:"boards",title:"Boards",page:C(()=>import("./lazy_pages-MLHRCA4N.js").then(e=>e.Boards))},{name:"policies",title:"Policies",page:C(()=>import("./lazy_pages-MLHRCA4N.js").
then(e=>e.Policies))},{name:"correlations",title:"Correlations",page:C(()=>import("./lazy_pages-MLHRCA4N.js").then(e=>e.Correlations))},{name:"server",title:"Server",page:C(()=>import("./lazy_pages-MLHRCA4N.js").
then(e=>e.Server))},{name:"metric",page:C(()=>import("./lazy_pages-MLHRCA4N.js").then(e=>e.MetricPage))}];function lr(){let e=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=W(),[a,m]=v([]);
$(()=>{let n=setTimeout(()=>m(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(n)},[]);let o=z(()=>[...new Set([e,"UTC",r,...a])],[e,r,a]);return t("select",{"aria-label":"Time zone",value:r,
onChange:n=>y({tz:n.currentTarget.value===e?null:n.currentTarget.value}),children:o.map(n=>t("option",{value:n,children:n.replaceAll("_"," ")},n))})}var Re=null;document.addEventListener("focusin",e=>{
Re=e.target});function mr(){let e=O.use(),r=ae.use(),a=Le.use(),m=at.use(),o=Pt.find(c=>c.name===e.page),n=o?.page;$(()=>{document.title=(o?.title??"Metric")+" \xB7 Gnocco"},[o]);let i=U(e.page);return oe(
()=>{(e.page!==i.current||Re&&!Re.isConnected)&&Se(),i.current=e.page},[e]),t(j,{children:[t("a",{class:"skip",href:"#main",onClick:c=>{c.preventDefault(),Se()},children:"To the content"}),t("header",
{class:"top",children:[t("a",{class:"brand",href:"#/explore",children:[t("img",{src:pt,alt:"",width:"22",height:"22"}),"Gnocco"]}),t("nav",{"aria-label":"Pages",children:Pt.map(c=>c.title&&t("a",{href:_(
c.name),"aria-current":c.name===e.page?"page":void 0,children:c.title},c.name))}),t("div",{class:"settings",children:[t(lr,{}),t("button",{type:"button",class:"icon","aria-label":m==="dark"?"Light col\
ours":"Dark colours",title:m==="dark"?"Light colours":"Dark colours",onClick:it,children:m==="dark"?"\u2600":"\u263E"}),r.credentials!=="none"&&r.user&&t("button",{type:"button",onClick:()=>{Ie()},title:"\
Sign out, or in as somebody else",children:r.user})]})]}),t("main",{id:"main",tabIndex:-1,children:[a&&t(ut,{}),!a&&o?.title&&t(Ue,{hidden:!0,children:o.title},o.name),!a&&(n?t(n,{},e.page+r.user):t(k,
{children:["There is no page of this name. ",t("a",{href:_("explore"),children:"Explore"})," is where to begin."]}))]})]})}Ee(t(mr,{}),document.getElementById("app"));
