import"./chunk-5WRU37FB.js";import{A as De,B as O,C as We,D as Ae,E as Ve,F as se,G as le,H as Ge,I as H,J as me,K as Qe,M as Z,N as ce,O as He,P as Ze,Q as Je,R as Ke,T as de,U as Ye,W as Xe,X as et,
Y as tt,a as ne,b as oe,c as Ee,d as j,f as ae,h as t,i as y,j as xe,k as _e,l as qe,n as G,o as Ie,p as Ue,q as $,r as R,s as F,t as v,u as Q,v as ie,w as B,x as Be}from"./chunk-TBFSW2OA.js";import{
b as P,c as je,d as b,e as z,f as I,g as U,h as S,j as re,k as Fe,m as Oe,n as Le,o as ye}from"./chunk-X37HJCMD.js";import{C as Ne,m as ve,n as Re}from"./chunk-SFRQD3YE.js";var rt="./icon-CQTSC6ED.svg";function nt(){let e=re.use(),[r,o]=b(""),[s,a]=b(""),[n,i]=b(""),[m,d]=b(e.credentials==="token");return t("form",{class:"sign-in panel",onSubmit:async p=>{p.preventDefault();try{await Oe(e.credentials,
m?"":r,s)}catch(g){let w=e.credentials==="token"?"Wrong token or secret":"Wrong user or password";i(g.status===401?w:g.message)}},children:[t("h1",{children:"Sign in"}),e.expired&&!n&&t("p",{class:"no\
tice",role:"status",children:"Your sign-in has expired. Please sign in again; the page goes on where you were."}),n&&t("p",{class:"notice bad",role:"alert",children:n}),!m&&t("label",{children:[e.credentials===
"token"?"Application credential":"User",t("input",{name:"user",value:r,onInput:p=>o(p.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),e.credentials!=="name"&&t("label",{children:[
m?"Keystone token":e.credentials==="token"?"Secret":"Password",t("input",{name:"secret",type:"password",value:s,onInput:p=>a(p.currentTarget.value),autocomplete:m?"off":"current-password",required:!0})]}),
t("button",{type:"submit",class:"main",children:"Sign in"}),e.credentials==="token"&&t("button",{type:"button",class:"plain",onClick:()=>d(!m),children:m?"Use an application credential":"Use a token"}),
e.credentials==="name"&&t("p",{class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function M(e){let r;return function(){let[,s]=b(0),[a,n]=b(!1);I(()=>{r||e().then(m=>{r=m,s(1)},()=>n(!0))},[]);let i=r;return i?t(i,{}):a?t(y,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var Tt=M(()=>import("./lazy_pages-QMZPXYEV.js").then(e=>e.Changed)),Pt=4,Rt=5e3;function it({metrics:e}){let{params:r}=R.use(),[o]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),s=e.some(H),a=s&&(r.get("agg")??"rate")==="rate",n=!a&&r.get("agg")||"mean",i=r.get("g"),m=e.length<=Pt,d=m&&n==="mean"&&!a,c=[...new Set(e.flatMap(l=>l.policy.methods.filter(h=>/^[\d.]+pct$/.test(
h))))].sort((l,h)=>parseFloat(l)-parseFloat(h)),p={cmp:!0,pct:m&&c.length>0&&!a,raw:m&&!a},g=l=>p[l]&&r.get(l)==="1",w=Z(e),x=Q(r,w),f=Math.min(...e.map(l=>l.policy.items[0].granularity)),{value:u,error:C,
loading:ue}=$(async l=>{let h=a?me:Ge,Y=async(te,xt)=>{let{from:V,to:we,span:$e}=te,Te=q=>i&&q.items.find(Ct=>Ct.granularity===+i)||le(q,V,we,o,He(e)),kt=[n,...d?["min","max"]:[],...g("pct")?c:[]],Pe=g(
"raw")&&e.some(q=>$e/q.policy.items[0].granularity>Rt),[St,zt,Mt]=await Promise.all([h(e,kt,V,we,Te,l),g("cmp")?h(e,[n],V-$e,V,Te,l):[],g("raw")&&!Pe?Promise.all(e.map(q=>Ze(q.id,V,we,l))):[]]);return{
range:te,columns:St,before:zt,raw:Mt,method:n,tooMany:Pe,newest:xt}},X=Q(r,w),be=await Y(X,null);if(be.columns.some(te=>te.times.length))return be;let ee=await ce(e,X.from,l);if(!ee||r.has("from"))return{
...be,newest:ee};let Ce=ee+f;return Y({...X,from:Ce-X.span,to:Ce},ee)},[e,n,a,i,...["from","to","live","cmp","pct","raw"].map(l=>r.get(l))],x.live?ie(r,Math.min(30,Math.max(1,f))):0),D=S(()=>u?Ot(u):[],
[u]),k=Xe(D),L=S(()=>k.shown.map(l=>d&&!l.derived?{...l,low:u.columns[l.color].values.min,high:u.columns[l.color].values.max}:l),[k.shown,d]),N=[...new Set(e.flatMap(l=>l.policy.methods))].sort((l,h)=>ot(
l)-ot(h)||l.localeCompare(h,"en",{numeric:!0})),J=[...new Set(e.flatMap(l=>l.policy.items.map(h=>h.granularity)))].sort((l,h)=>l-h),E=oe(e[0].name??"",e[0].unit),fe=a&&H(e[0])?ne(E):E,_=B(),K=r.get("v\
iew")==="table",W=Be(r),A=e.length===1?e[0].name??e[0].id:`${e.length} metrics`,T=u?.range??x,ge=(l,h)=>v({from:String(Math.floor(l)),to:String(Math.ceil(h))}),he=(l,h,Y)=>p[l]&&t("button",{type:"butt\
on","aria-pressed":g(l),title:Y,onClick:()=>v({[l]:g(l)?null:"1"}),children:h});return t(P,{children:[t(Ye,{range:T,children:[t("label",{class:"aside",children:["Show"," ",t("select",{"aria-label":"Ag\
gregation method",value:a?"rate":n,onChange:l=>v({agg:l.currentTarget.value===(s?"rate":"mean")?null:l.currentTarget.value}),children:[s&&t("option",{children:"rate"}),(N.includes(n)?N:[n,...N]).map(l=>t(
"option",{children:l},l))]})]}),t("label",{class:"aside",children:["of"," ",t("select",{"aria-label":"Granularity",value:i??"",onChange:l=>v({g:l.currentTarget.value||null}),children:[t("option",{value:"",
children:"what fits"}),J.map(l=>t("option",{value:String(l),children:j(l)},l))]})]})]}),C&&t(y,{bad:!0,children:C}),t(qe,{title:A,id:"drawn",aside:t(P,{children:[s&&t("button",{type:"button","aria-pre\
ssed":a,title:"What counters grow by in a second, instead of what they stand at",onClick:()=>v({agg:a?"mean":null}),children:"Rate"}),he("cmp","Before",`Compare with the ${j(Math.round(T.span))} befor\
e`),he("pct","Percentiles",c.join(", ")),he("raw","Raw","Single measures, as far as they are kept"),t("button",{type:"button","aria-pressed":!!W,title:"Mark a time, and see which metrics moved most",onClick:()=>v(
{w:W?null:jt(T)}),children:"What changed here?"}),t("button",{type:"button","aria-pressed":K,onClick:()=>v({view:K?null:"table"}),children:"Table"}),t(Ue,{title:"Copy",children:[t(Et,{metrics:e,columns:u?.
columns,method:n,range:T}),!K&&t("button",{type:"button",onClick:()=>{import("./lazy_pages-QMZPXYEV.js").then(({picture:l})=>l("drawn",A,L,`${ae(T.from,_)} \u2013 ${ae(T.to,_)} ${_}`)).then(l=>Ie(l,A+
".png"))},children:"PNG"})]})]}),children:[u&&t("p",{class:"hint",id:"archive","data-from":u.range.from,children:Lt(u)}),u?.newest&&t(y,{children:["Newest measure ",ae(u.newest,_),u.newest<u.range.from?
": ":", and none since",u.newest<u.range.from&&t("button",{type:"button",onClick:()=>ge(u.newest+f-w,u.newest+f),children:"Show it"})]}),u&&(K?t(tt,{rows:D,unit:fe,zone:_,name:A}):t(de,{lines:L,from:T.
from,to:T.to,height:340,unit:fe,zone:_,title:A,shades:Ft(W),onZoom:(l,h)=>W?v({w:`${Math.floor(l)}-${Math.ceil(h)}`}):ge(l,h),onPan:ge})),!u&&ue&&t("p",{class:"hint",children:"Reading \u2026"})]}),W&&
t(Tt,{}),u&&t(et,{rows:D,unit:fe,legend:k,onRemove:l=>v({m:e.map(h=>h.id).filter(h=>h!==l)}),href:l=>F("metric",{id:l})})]})}var Nt=["mean","max","min","sum","count","last","first","median","std"],ot=e=>Nt.
indexOf(e)+1||99,jt=({from:e,to:r})=>`${Math.floor(r-(r-e)/3)}-${Math.ceil(r)}`,Ft=e=>e?[{from:2*e.from-e.to,to:e.from,faint:!0},e]:[];function Ot({range:e,columns:r,before:o,raw:s,method:a}){let n=O(
r.map(m=>m.metric)),i=r.map((m,d)=>at(m,d,a,n[d]));return r.forEach((m,d)=>{let{id:c,label:p}=i[d];for(let[g,w]of Object.entries(m.values))g!==a&&/pct$/.test(g)&&i.push({...i[d],id:c+g,label:`${p} ${g}`,
values:w,look:"dotted",derived:!0});o[d]&&i.push({...at(o[d],d,a,n[d]),id:c+"before",label:`${p}, ${j(Math.round(e.span))} before`,times:o[d].times.map(g=>g+e.span),look:"dashed",derived:!0}),s[d]?.times.
length&&i.push({...i[d],id:c+"raw",label:`${p}, measures`,...s[d],look:"dots",derived:!0})}),i}function at(e,r,o,s){let[a,n]=o in e.values?[o,e.values[o]]:Object.entries(e.values)[0]??[o,[]];return{id:e.
metric.id,label:s+(a===o||a==="rate"?"":` (${a})`),color:r,times:e.times,values:n,step:e.item.granularity}}function Lt({columns:e,method:r,raw:o,tooMany:s}){let a=new Set(e.map(i=>{let m=r in i.values?
r:Object.keys(i.values)[0]??r;return m==="rate"?`rate a second, by ${j(i.item.granularity)} (archive policy ${i.metric.policy.name})`:`${m} of ${j(i.item.granularity)}, kept for ${j(i.item.timespan)} \
(archive policy ${i.metric.policy.name})`})),n=o.length?o.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"Drawn from "+[
...a].join("; ")+(s?"; zoom in to see raw measures":n)}function Et({metrics:e,columns:r,method:o,range:s}){let a=Math.floor(s.from),n=Math.ceil(s.to),i=e[0],m=r?.[0]?.item.granularity??i.policy.items[0].
granularity,d=`start=${a}&stop=${n}&granularity=${m}&aggregation=${encodeURIComponent(o)}`,c=p=>e.map(p).join(`
`);return t(P,{children:[t(G,{label:"curl",title:"Copy as curl",text:c(p=>`curl -u USER: '${ye(`/v1/metric/${p.id}/measures?${d}`)}'`)}),t(G,{label:"Python",title:"Copy as Python",text:_t(e.map(p=>p.id),
d)}),t(G,{label:"gnocchi",title:"Copy for Gnocchi's client",text:c(p=>`gnocchi measures show ${p.id} --aggregation ${o} --granularity ${m} --start ${a} --stop ${n}`)}),t(G,{label:"PromQL",title:"Copy \
as PromQL",text:e.map(ke).join(" or ")})]})}var _t=(e,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(e)}:
    request = urllib.request.Request(${JSON.stringify(ye("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,ke=e=>`{${[ve(e.name??""),...e.resource?[`resource_id=${ve(e.resource)}`]:[]].join(", ")}}`;var pe=4,Se=40;function ct(e){let{text:r,labels:o}=Ne(e),s=!r&&!o.length&&!e.has("m")&&!e.has("q"),[a,n]=b(!1),i=[r,o.join(`
`)],m=a?1:15,{value:d,error:c}=$(f=>se(r,o,f),i,m),{value:p,error:g}=$(f=>Ae(r,o,f),i,m),{value:w}=$(f=>Ve(r,o,f),i,m),x=s&&d?.length===0;return z(()=>n(x),[x]),{text:r,labels:o,series:d,counts:p,names:w,
error:c??g,empty:x}}function dt({finder:e,chosen:r}){let{text:o,labels:s,series:a,counts:n,names:i,error:m}=e,[d,c]=b(o),p=U(o);z(()=>{o!==p.current&&(p.current=o,c(o))},[o]),z(()=>{if(d===p.current)return;
let f=setTimeout(()=>{p.current=d,v({find:d||null},!0)},150);return()=>clearTimeout(f)},[d]);let g=Bt(o+`
`+s.join(`
`),i?.counts.length??0),w=S(()=>i?.counts.slice(0,g).map(({name:f,value:u})=>t(qt,{name:f,value:u,text:o,labels:s,chosen:r,first:a?.find(C=>C.name===f)},f)),[i,a,r,g,o,s.join(`
`)]),x=n?At(n,s):[];return t("aside",{class:"panel finder","aria-label":"Find metrics",children:[t("div",{class:"search",children:[t("input",{type:"search",placeholder:"Find metrics","aria-label":"Fin\
d metrics by name",value:d,onInput:f=>c(f.currentTarget.value)}),t("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>v({q:r.map(ke).join(" or "),m:null,
agg:null,g:null}),children:"\u0192(x)"})]}),t("div",{class:"facets",children:x.slice(0,pe).map(f=>t(st,{facet:f,labels:s},f.name))}),x.length>pe&&t("details",{class:"more",children:[t("summary",{children:[
x.length-pe," more labels"]}),t("div",{class:"facets",children:x.slice(pe).map(f=>t(st,{facet:f,labels:s},f.name))})]}),m&&t(y,{bad:!0,children:m}),n&&t("p",{class:"hint",id:"found",children:n.total===
1?"1 metric":`${n.total.toLocaleString("en")} metrics`}),t("ul",{class:"found",children:[w,i&&g>=i.counts.length&&i.values>i.counts.length&&t("li",{class:"hint",children:["and ",(i.values-i.counts.length).
toLocaleString("en")," more names: type, or choose above, to narrow"]})]})]})}function st({facet:{name:e,values:r,counts:o},labels:s}){let a=s.find(([n])=>n===e)?.[1]??"";return t("select",{"aria-labe\
l":lt(e),"data-label":e,value:a,onChange:n=>v({l:[...s.filter(([i])=>i!==e),...n.currentTarget.value?[[e,n.currentTarget.value]]:[]].map(i=>i.join("="))}),children:[t("option",{value:"",children:lt(e)}),
a&&!o.some(n=>n.name===a)&&t("option",{value:a,children:a}),o.map(n=>t("option",{value:n.name,children:[n.name," (",n.value.toLocaleString("en"),")"]},n.name)),r>o.length&&t("option",{disabled:!0,children:[
"and ",(r-o.length).toLocaleString("en")," more"]})]})}var pt=(e,r)=>{let o=e.map(s=>s.id);v({q:null,lang:null,m:o.includes(r)?o.filter(s=>s!==r):[...o,r]})};function qt({name:e,value:r,text:o,labels:s,
chosen:a,first:n}){let[i,m]=b(!1),d=a.some(p=>p.id===n?.id||p.name===e),c=async()=>{let p=n?.id??(await se(o,[...s,["__name__",e]]))[0]?.id;p&&pt(a,p)};return t("li",{children:[t("button",{type:"butto\
n","aria-pressed":r===1||d?d:void 0,"aria-expanded":r>1?i:void 0,title:n&&r===1?gt(n):e,onClick:()=>r>1?m(!i):void c(),children:[t("span",{children:[r>1&&t("i",{class:"turn",children:i?"\u25BE":"\u25B8"}),
ut(e)]}),t("small",{children:r>1?r.toLocaleString("en"):n&&ht(n)})]}),i&&r>1&&t(It,{name:e,value:r,text:o,labels:s,chosen:a})]})}function It({name:e,text:r,labels:o,chosen:s}){let{value:a,error:n}=$(d=>se(
r,[...o,["__name__",e]],d),[e,r,o.join(`
`)]),i=S(()=>{let d=O(a??[]).map(c=>c.slice(e.length).replace(/^ · /,""));return(a??[]).map((c,p)=>({s:c,title:d[p]||ht(c)||c.id})).sort((c,p)=>Ut(c.title,p.title))},[a]);if(n)return t(y,{bad:!0,children:n});
if(!a)return t("p",{class:"hint",children:"Reading \u2026"});let m=i.slice(0,Se);return t("ul",{children:[e.endsWith("_bucket")&&t("li",{children:t("button",{type:"button",class:"all",onClick:()=>v({q:Qe(
Re("",[...o,["__name__",e]])),lang:null,m:null,agg:null}),children:"Quantiles 0.5, 0.9, 0.99"})}),t("li",{children:t("button",{type:"button",class:"all",onClick:()=>v({q:null,lang:null,m:m.map(({s:d})=>d.
id)}),children:a.length>Se?`The first ${Se} on one chart`:`All ${a.length} on one chart`})}),i.map(({s:d,title:c})=>t("li",{children:t("button",{type:"button","aria-pressed":s.some(p=>p.id===d.id),title:gt(
d),onClick:()=>pt(s,d.id),children:t("span",{children:ut(c)})})},d.id))]})}var Ut=new Intl.Collator("en",{numeric:!0}).compare,ut=e=>e.split(/(?<=[_./,:=])/).flatMap((r,o)=>o?[t("wbr",{},o),r]:[r]);function Bt(e,r){
let[o,s]=b({of:e,lines:ze}),a=o.of===e?o.lines:ze;return z(()=>{if(a>=r)return;let n=0,i=setTimeout(()=>{n=requestIdleCallback(()=>s({of:e,lines:a+Dt}),{timeout:1e3})},a===ze?250:0);return()=>{clearTimeout(
i),cancelIdleCallback(n)}},[e,a,r]),a}var ze=40,Dt=65,ft={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},lt=e=>ft[e]??e,gt=e=>[
e.name,e.resource,e.place[""],...Object.entries(e.labels).map(([r,o])=>`${r}=${o}`)].filter(Boolean).join(`
`),ht=e=>e.place[""]??e.labels.instance??e.labels.job??"",mt=["job","instance","resource_type","project_id","original_resource_id"],Wt=new Set(["le","quantile"]);function At(e,r){let o=new Set(r.map(([
n])=>n)),s=n=>o.has(n.name)?0:mt.includes(n.name)?1+mt.indexOf(n.name):n.name in ft?99:Wt.has(n.name)?98:9,a=n=>n.counts.reduce((i,m)=>i+m.value,0);return e.facets.filter(n=>o.has(n.name)||n.values>1||
n.counts[0].value<e.total).sort((n,i)=>s(n)-s(i)||a(i)-a(n))}var bt=12,Vt=3,Gt=8,Qt=340;function wt({finder:e}){let{params:r}=R.use(),o=S(()=>Ht(e.series??[]),[e.series]),s=o.flatMap(([,c])=>c),a=U(1),{value:n,error:i}=$(async c=>{let p=new Map((await We(s)).map(
f=>[f.id,f])),g=async(f,u,C)=>{let ue=await me(f.flat(),["mean"],u.from,u.to,k=>le(k,u.from,u.to,Qt,C),c),D=new Map(ue.map(k=>[k.metric.id,k]));return Promise.all(f.map(async k=>{let L=k.flatMap(E=>D.
get(E.id)??[]);if(C||r.has("from")||L.some(E=>E.times.length))return{range:u,columns:L};let N=await ce(k,u.from,c);if(!N)return{range:u,columns:L};let J=N+u.span/60;return(await g([k],{...u,from:J-u.span,
to:J},N))[0]}))};a.current=Math.min(10,...[...p.values()].map(f=>f.policy.items[0].granularity));let w=new Map;for(let[,f]of o){let u=f.flatMap(C=>p.get(C.id)??[]);u.length&&w.set(Z(u),[...w.get(Z(u))??
[],u])}let x=await Promise.all([...w].map(([f,u])=>g(u,Q(r,f))));return new Map(x.flat().map(f=>[f.columns[0]?.metric.id??"",f]))},[o,r.get("from"),r.get("to")],ie(r,Math.max(1,a.current))),[m,d]=b(!1);
return z(()=>{if(!n||m)return;let c=setTimeout(()=>d(!0));return()=>clearTimeout(c)},[n,m]),e.series?o.length?t(P,{children:[i&&t(y,{bad:!0,children:i}),t("div",{class:"tiles",children:o.slice(0,m?bt:
Vt).map(([c,p])=>n&&t(Zt,{name:c,drawn:p.map(g=>n.get(g.id)).find(Boolean)},p[0].id))})]}):t(y,{children:"No metric is called like that."}):e.error?null:t(y,{children:"Looking for metrics \u2026"})}function Ht(e){
let r=new Map;for(let a of e){let n=a.resource+"/"+a.name.replace(/\d+/g,"#"),i=r.get(n)??[];if(i.length<Gt&&r.set(n,[...i,a]),r.size>bt){r.delete(n);break}}let o=[...r.values()],s=O(o.map(a=>({...a[0],
name:a.length>1?a[0].name.replace(/\d+/g,"*"):a[0].name})));return o.map((a,n)=>[s[n],a])}function Zt({name:e,drawn:r}){if(!r?.columns.length)return null;let{columns:o,range:s}=r,a=oe(e,o[0].metric.unit),
n=H(o[0].metric)?ne(a):a,i=O(o.map(c=>c.metric)),m=o.map((c,p)=>({label:i[p],color:p,times:c.times,values:Object.values(c.values)[0]??[],step:c.item.granularity})),d=m.map(c=>c.values.at(-1)).filter(c=>c!=
null);return t("a",{class:"panel tile",href:F("explore",{m:o.map(c=>c.metric.id)}),"data-name":e,children:[t("header",{children:[t("h3",{title:e,children:e}),t("span",{class:"now",children:[d.slice(0,
3).map(c=>Ee(c,n,3)).join(" \xB7 "),d.length>3&&" \u2026"]})]}),t(de,{lines:m,from:s.from,to:s.to,height:130,unit:n,zone:B(),title:e,small:!0})]})}var Jt=M(()=>import("./lazy_pages-QMZPXYEV.js").then(e=>e.First)),Kt=M(()=>import("./lazy_pages-QMZPXYEV.js").then(e=>e.QueryView));function vt(){let{params:e}=R.use(),r=ct(e),o=e.getAll("m"),s=o.join(),
[a,n]=b([]),[i,m]=b("");I(()=>{let c=!0;return m(""),De(o).then(p=>{if(!c)return;n(p.flatMap(w=>w.status==="fulfilled"?[w.value]:[]));let g=p.find(w=>w.status==="rejected");g&&m(g.reason.message)}),()=>{
c=!1}},[s]);let d=S(()=>a.filter(c=>o.includes(c.id)),[a,s]);return r.empty?t(Jt,{}):t("div",{class:"split",children:[t(dt,{finder:r,chosen:d}),t("div",{children:[i&&t(y,{bad:!0,children:i}),e.has("q")?
t(Kt,{}):o.length?d.length>0&&t(it,{metrics:d}):t(wt,{finder:r})]})]})}var yt=[{name:"explore",title:"Explore",page:vt},{name:"policies",title:"Policies",page:M(()=>import("./lazy_pages-QMZPXYEV.js").then(e=>e.Policies))},{name:"correlations",title:"Correlations",page:M(
()=>import("./lazy_pages-QMZPXYEV.js").then(e=>e.Correlations))},{name:"server",title:"Server",page:M(()=>import("./lazy_pages-QMZPXYEV.js").then(e=>e.Server))},{name:"metric",page:M(()=>import("./lazy_pages-QMZPXYEV.js").
then(e=>e.MetricPage))}];function Yt(){let e=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=B(),[o,s]=b([]);z(()=>{let n=setTimeout(()=>s(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(
n)},[]);let a=S(()=>[...new Set([e,"UTC",r,...o])],[e,r,o]);return t("select",{"aria-label":"Time zone",value:r,onChange:n=>v({tz:n.currentTarget.value===e?null:n.currentTarget.value}),children:a.map(
n=>t("option",{value:n,children:n.replaceAll("_"," ")},n))})}var Me=null;document.addEventListener("focusin",e=>{Me=e.target});function Xt(){let e=R.use(),r=re.use(),o=Fe.use(),s=Je.use(),a=yt.find(m=>m.
name===e.page),n=a?.page;z(()=>{document.title=(a?.title??"Metric")+" \xB7 Gnocco"},[a]);let i=U(e.page);return I(()=>{(e.page!==i.current||Me&&!Me.isConnected)&&xe(),i.current=e.page},[e]),t(P,{children:[
t("a",{class:"skip",href:"#main",onClick:m=>{m.preventDefault(),xe()},children:"To the content"}),t("header",{class:"top",children:[t("a",{class:"brand",href:"#/explore",children:[t("img",{src:rt,alt:"",
width:"22",height:"22"}),"Gnocco"]}),t("nav",{"aria-label":"Pages",children:yt.map(m=>m.title&&t("a",{href:F(m.name),"aria-current":m.name===e.page?"page":void 0,children:m.title},m.name))}),t("div",{
class:"settings",children:[t(Yt,{}),t("button",{type:"button",class:"icon","aria-label":s==="dark"?"Light colours":"Dark colours",title:s==="dark"?"Light colours":"Dark colours",onClick:Ke,children:s===
"dark"?"\u2600":"\u263E"}),r.credentials!=="none"&&r.user&&t("button",{type:"button",onClick:()=>{Le()},title:"Sign out, or in as somebody else",children:r.user})]})]}),t("main",{id:"main",tabIndex:-1,
children:[o&&t(nt,{}),!o&&a?.title&&t(_e,{hidden:!0,children:a.title},a.name),!o&&(n?t(n,{},e.page+r.user):t(y,{children:["There is no page of this name. ",t("a",{href:F("explore"),children:"Explore"}),
" is where to begin."]}))]})]})}je(t(Xt,{}),document.getElementById("app"));
