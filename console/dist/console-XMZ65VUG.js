import"./chunk-EPVT2D5K.js";import{$ as nt,B as Ae,C as E,D as Qe,E as Ge,F as Ve,G as ce,H as de,I as He,J as K,K as pe,L as Ze,M as Je,O as U,P as ue,Q as Ke,R as Ye,S as Xe,T as et,V as ge,W as tt,
X as rt,Y as M,Z as fe,a as ie,aa as ot,b as se,ba as at,c as Le,d as q,f as le,i as t,j as k,k as Se,l as Ie,m as Be,o as J,p as De,q as Ue,r as R,s as j,t as F,u as y,v as _,w as me,x as D,y as We}from"./chunk-6WCEK2G4.js";
import{b as P,c as qe,d as v,e as $,f as oe,g as B,h as S,j as ae,k as Fe,m as _e,n as Ee,o as ke}from"./chunk-QCDZY7AT.js";import{E as Oe,m as xe,n as Ne}from"./chunk-KDDMCHQW.js";var it="./icon-CQTSC6ED.svg";function st(){let e=ae.use(),[r,o]=v(""),[l,a]=v(""),[n,i]=v(""),[c,d]=v(e.credentials==="token");return t("form",{class:"sign-in panel",onSubmit:async s=>{s.preventDefault();try{await _e(e.credentials,
c?"":r,l)}catch(g){let w=e.credentials==="token"?"Wrong token or secret":"Wrong user or password";i(g.status===401?w:g.message)}},children:[t("h1",{children:"Sign in"}),e.expired&&!n&&t("p",{class:"no\
tice",role:"status",children:"Your sign-in has expired. Please sign in again; the page goes on where you were."}),n&&t("p",{class:"notice bad",role:"alert",children:n}),!c&&t("label",{children:[e.credentials===
"token"?"Application credential":"User",t("input",{name:"user",value:r,onInput:s=>o(s.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),e.credentials!=="name"&&t("label",{children:[
c?"Keystone token":e.credentials==="token"?"Secret":"Password",t("input",{name:"secret",type:"password",value:l,onInput:s=>a(s.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),
t("button",{type:"submit",class:"main",children:"Sign in"}),e.credentials==="token"&&t("button",{type:"button",class:"plain",onClick:()=>d(!c),children:c?"Use an application credential":"Use a token"}),
e.credentials==="name"&&t("p",{class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}var Nt=M(()=>import("./lazy_pages-ZKVZF5NO.js").then(e=>e.Changed)),Ot=4,qt=5e3;function ct({metrics:e}){let{params:r}=j.use(),[o]=v(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),l=e.some(K),a=l&&(r.get("agg")??"rate")==="rate",n=!a&&r.get("agg")||"mean",i=r.get("g"),c=e.length<=Ot,d=c&&n==="mean"&&!a,p=[...new Set(e.flatMap(m=>m.policy.methods.filter(b=>/^[\d.]+pct$/.test(
b))))].sort((m,b)=>parseFloat(m)-parseFloat(b)),s={cmp:!0,pct:c&&p.length>0&&!a,raw:c&&!a},g=m=>s[m]&&r.get(m)==="1",w=U(e),x=_(r,w),f=Math.min(...e.map(m=>m.policy.items[0].granularity)),{value:u,error:h,
loading:C}=R(async m=>{let b=a?pe:He,ee=async(ne,Mt)=>{let{from:Z,to:ye,span:Te}=ne,Pe=I=>i&&I.items.find(Pt=>Pt.granularity===+i)||de(I,Z,ye,o,Ke(e)),Ct=[n,...d?["min","max"]:[],...g("pct")?p:[]],je=g(
"raw")&&e.some(I=>Te/I.policy.items[0].granularity>qt),[$t,Rt,Tt]=await Promise.all([b(e,Ct,Z,ye,Pe,m),g("cmp")?b(e,[n],Z-Te,Z,Pe,m):[],g("raw")&&!je?Promise.all(e.map(I=>Ye(I.id,Z,ye,m))):[]]);return{
range:ne,columns:$t,before:Rt,raw:Tt,method:n,tooMany:je,newest:Mt}},te=_(r,w),ve=await ee(te,null);if(ve.columns.some(ne=>ne.times.length))return ve;let re=await ue(e,te.from,m);if(!re||r.has("from"))
return{...ve,newest:re};let Re=re+f;return ee({...te,from:Re-te.span,to:Re},re)},[e,n,a,i,...["from","to","live","cmp","pct","raw"].map(m=>r.get(m))],x.live?me(r,Math.min(30,Math.max(1,f))):0),N=S(()=>u?
Lt(u):[],[u]),W=nt(N),z=S(()=>W.shown.map(m=>d&&!m.derived?{...m,low:u.columns[m.color].values.min,high:u.columns[m.color].values.max}:m),[W.shown,d]),O=[...new Set(e.flatMap(m=>m.policy.methods))].sort(
(m,b)=>lt(m)-lt(b)||m.localeCompare(b,"en",{numeric:!0})),A=[...new Set(e.flatMap(m=>m.policy.items.map(b=>b.granularity)))].sort((m,b)=>m-b),Q=se(e[0].name??"",e[0].unit),G=a&&K(e[0])?ie(Q):Q,L=D(),Y=tt(
r,G),X=r.get("view")==="table",V=We(r),H=e.length===1?e[0].name??e[0].id:`${e.length} metrics`,T=u?.range??x,be=(m,b)=>y({from:String(Math.floor(m)),to:String(Math.ceil(b))}),we=(m,b,ee)=>s[m]&&t("but\
ton",{type:"button","aria-pressed":g(m),title:ee,onClick:()=>y({[m]:g(m)?null:"1"}),children:b});return t(P,{children:[t(fe,{range:T,children:t("span",{class:"aside",children:[t("label",{children:["Sh\
ow"," ",t("select",{"aria-label":"Aggregation method",value:a?"rate":n,onChange:m=>y({agg:m.currentTarget.value===(l?"rate":"mean")?null:m.currentTarget.value}),children:[l&&t("option",{children:"rate"}),
(O.includes(n)?O:[n,...O]).map(m=>t("option",{children:m},m))]})]}),t("label",{children:["of"," ",t("select",{"aria-label":"Granularity",value:i??"",onChange:m=>y({g:m.currentTarget.value||null}),children:[
t("option",{value:"",children:"what fits"}),A.map(m=>t("option",{value:String(m),children:q(m)},m))]})]})]})}),h&&t(k,{bad:!0,children:h}),t(Be,{title:H,id:"drawn",aside:t(P,{children:[l&&t("button",{
type:"button","aria-pressed":a,title:"What counters grow by in a second, instead of what they stand at",onClick:()=>y({agg:a?"mean":null}),children:"Rate"}),we("cmp","Before",`Compare with the ${q(Math.
round(T.span))} before`),we("pct","Percentiles",p.join(", ")),we("raw","Raw","Single measures, as far as they are kept"),t("button",{type:"button","aria-pressed":!!V,title:"Mark a time, and see which \
metrics moved most",onClick:()=>y({w:V?null:_t(T)}),children:"What changed here?"}),t("button",{type:"button","aria-pressed":X,onClick:()=>y({view:X?null:"table"}),children:"Table"}),t(rt,{axis:Y}),t(
Ue,{title:"Copy",children:[t(Bt,{metrics:e,columns:u?.columns,method:n,range:T}),!X&&t("button",{type:"button",onClick:()=>{import("./lazy_pages-ZKVZF5NO.js").then(({picture:m})=>m("drawn",H,z,`${le(
T.from,L)} \u2013 ${le(T.to,L)} ${L}`)).then(m=>De(m,H+".png"))},children:"PNG"})]})]}),children:[u&&t("p",{class:"hint",id:"archive","data-from":u.range.from,children:It(u)}),u?.newest&&t(k,{children:[
"Newest measure ",le(u.newest,L),u.newest<u.range.from?": ":", and none since",u.newest<u.range.from&&t("button",{type:"button",onClick:()=>be(u.newest+f-w,u.newest+f),children:"Show it"})]}),u&&(X?t(
at,{rows:N,unit:Y.unit,zone:L,name:H}):t(ge,{lines:z,from:T.from,to:T.to,height:340,...Y,zone:L,title:H,shades:Et(V),onZoom:(m,b)=>V?y({w:`${Math.floor(m)}-${Math.ceil(b)}`}):be(m,b),onPan:be})),!u&&C&&
t("p",{class:"hint",children:"Reading \u2026"})]}),V&&t(Nt,{}),u&&t(ot,{rows:N,unit:Y.unit,legend:W,onRemove:m=>y({m:e.map(b=>b.id).filter(b=>b!==m)}),href:m=>F("metric",{id:m})})]})}var Ft=["mean","m\
ax","min","sum","count","last","first","median","std"],lt=e=>Ft.indexOf(e)+1||99,_t=({from:e,to:r})=>`${Math.floor(r-(r-e)/3)}-${Math.ceil(r)}`,Et=e=>e?[{from:2*e.from-e.to,to:e.from,faint:!0},e]:[];function Lt({
range:e,columns:r,before:o,raw:l,method:a}){let n=E(r.map(c=>c.metric)),i=r.map((c,d)=>mt(c,d,a,n[d]));return r.forEach((c,d)=>{let{id:p,label:s}=i[d];for(let[g,w]of Object.entries(c.values))g!==a&&/pct$/.
test(g)&&i.push({...i[d],id:p+g,label:`${s} ${g}`,values:w,look:"dotted",derived:!0});o[d]&&i.push({...mt(o[d],d,a,n[d]),id:p+"before",label:`${s}, ${q(Math.round(e.span))} before`,times:o[d].times.map(
g=>g+e.span),look:"dashed",derived:!0}),l[d]?.times.length&&i.push({...i[d],id:p+"raw",label:`${s}, measures`,...l[d],look:"dots",derived:!0})}),i}function mt(e,r,o,l){let[a,n]=o in e.values?[o,e.values[o]]:
Object.entries(e.values)[0]??[o,[]];return{id:e.metric.id,label:l+(a===o||a==="rate"?"":` (${a})`),color:r,times:e.times,values:n,step:e.item.granularity}}function It({columns:e,method:r,raw:o,tooMany:l}){
let a=new Set(e.map(i=>{let c=r in i.values?r:Object.keys(i.values)[0]??r;return c==="rate"?`rate a second, by ${q(i.item.granularity)} (archive policy ${i.metric.policy.name})`:`${c} of ${q(i.item.granularity)}\
, kept for ${q(i.item.timespan)} (archive policy ${i.metric.policy.name})`})),n=o.length?o.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of th\
is time":"";return"Drawn from "+[...a].join("; ")+(l?"; zoom in to see raw measures":n)}function Bt({metrics:e,columns:r,method:o,range:l}){let a=Math.floor(l.from),n=Math.ceil(l.to),i=e[0],c=r?.[0]?.
item.granularity??i.policy.items[0].granularity,d=`start=${a}&stop=${n}&granularity=${c}&aggregation=${encodeURIComponent(o)}`,p=s=>e.map(s).join(`
`);return t(P,{children:[t(J,{label:"curl",title:"Copy as curl",text:p(s=>`curl -u USER: '${ke(`/v1/metric/${s.id}/measures?${d}`)}'`)}),t(J,{label:"Python",title:"Copy as Python",text:Dt(e.map(s=>s.id),
d)}),t(J,{label:"gnocchi",title:"Copy for Gnocchi's client",text:p(s=>`gnocchi measures show ${s.id} --aggregation ${o} --granularity ${c} --start ${a} --stop ${n}`)}),t(J,{label:"PromQL",title:"Copy \
as PromQL",text:e.map(ze).join(" or ")})]})}var Dt=(e,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(e)}:
    request = urllib.request.Request(${JSON.stringify(ke("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,ze=e=>`{${[xe(e.name??""),...e.resource?[`resource_id=${xe(e.resource)}`]:[]].join(", ")}}`;var he=4,Me=40;function gt(e){let{text:r,labels:o}=Oe(e),l=!r&&!o.length&&!e.has("m")&&!e.has("q"),[a,n]=v(!1),i=[r,o.join(`
`)],c=a?1:15,{value:d,error:p}=R(f=>ce(r,o,f),i,c),{value:s,error:g}=R(f=>Ge(r,o,f),i,c),{value:w}=R(f=>Ve(r,o,f),i,c),x=l&&d?.length===0;return $(()=>n(x),[x]),{text:r,labels:o,series:d,counts:s,names:w,
error:p??g,empty:x}}function ft({finder:e,chosen:r}){let{text:o,labels:l,series:a,counts:n,names:i,error:c}=e,[d,p]=v(o),s=B(o);$(()=>{o!==s.current&&(s.current=o,p(o))},[o]),$(()=>{if(d===s.current)return;
let f=setTimeout(()=>{s.current=d,y({find:d||null},!0)},150);return()=>clearTimeout(f)},[d]);let g=Qt(o+`
`+l.join(`
`),i?.counts.length??0),w=S(()=>i?.counts.slice(0,g).map(({name:f,value:u})=>t(Ut,{name:f,value:u,text:o,labels:l,chosen:r,first:a?.find(h=>h.name===f)},f)),[i,a,r,g,o,l.join(`
`)]),x=n?Ht(n,l):[];return t("aside",{class:"panel finder","aria-label":"Find metrics",children:[t("div",{class:"search",children:[t("input",{type:"search",placeholder:"Find metrics","aria-label":"Fin\
d metrics by name",value:d,onInput:f=>p(f.currentTarget.value)}),t("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>y({q:r.map(ze).join(" or "),m:null,
agg:null,g:null}),children:"\u0192(x)"})]}),t("div",{class:"facets",children:x.slice(0,he).map(f=>t(dt,{facet:f,labels:l},f.name))}),x.length>he&&t("details",{class:"more",children:[t("summary",{children:[
x.length-he," more labels"]}),t("div",{class:"facets",children:x.slice(he).map(f=>t(dt,{facet:f,labels:l},f.name))})]}),c&&t(k,{bad:!0,children:c}),n&&t("p",{class:"hint",id:"found",children:n.total===
1?"1 metric":`${n.total.toLocaleString("en")} metrics`}),t("ul",{class:"found",children:[w,i&&g>=i.counts.length&&i.values>i.counts.length&&t("li",{class:"hint",children:["and ",(i.values-i.counts.length).
toLocaleString("en")," more names: type, or choose above, to narrow"]})]})]})}function dt({facet:{name:e,values:r,counts:o},labels:l}){let a=l.find(([n])=>n===e)?.[1]??"";return t("select",{"aria-labe\
l":pt(e),"data-label":e,value:a,onChange:n=>y({l:[...l.filter(([i])=>i!==e),...n.currentTarget.value?[[e,n.currentTarget.value]]:[]].map(i=>i.join("="))}),children:[t("option",{value:"",children:pt(e)}),
a&&!o.some(n=>n.name===a)&&t("option",{value:a,children:a}),o.map(n=>t("option",{value:n.name,children:[n.name," (",n.value.toLocaleString("en"),")"]},n.name)),r>o.length&&t("option",{disabled:!0,children:[
"and ",(r-o.length).toLocaleString("en")," more"]})]})}var ht=(e,r)=>{let o=e.map(l=>l.id);y({q:null,lang:null,m:o.includes(r)?o.filter(l=>l!==r):[...o,r]})};function Ut({name:e,value:r,text:o,labels:l,
chosen:a,first:n}){let[i,c]=v(!1),d=a.some(s=>s.id===n?.id||s.name===e),p=async()=>{let s=n?.id??(await ce(o,[...l,["__name__",e]]))[0]?.id;s&&ht(a,s)};return t("li",{children:[t("button",{type:"butto\
n","aria-pressed":r===1||d?d:void 0,"aria-expanded":r>1?i:void 0,title:n&&r===1?vt(n):e,onClick:()=>r>1?c(!i):void p(),children:[t("span",{children:[r>1&&t("i",{class:"turn",children:i?"\u25BE":"\u25B8"}),
bt(e)]}),t("small",{children:r>1?r.toLocaleString("en"):n&&yt(n)})]}),i&&r>1&&t(Wt,{name:e,value:r,text:o,labels:l,chosen:a})]})}function Wt({name:e,text:r,labels:o,chosen:l}){let{value:a,error:n}=R(d=>ce(
r,[...o,["__name__",e]],d),[e,r,o.join(`
`)]),i=S(()=>{let d=E(a??[]).map(p=>p.slice(e.length).replace(/^ · /,""));return(a??[]).map((p,s)=>({s:p,title:d[s]||yt(p)||p.id})).sort((p,s)=>At(p.title,s.title))},[a]);if(n)return t(k,{bad:!0,children:n});
if(!a)return t("p",{class:"hint",children:"Reading \u2026"});let c=i.slice(0,Me);return t("ul",{children:[e.endsWith("_bucket")&&t("li",{children:t("button",{type:"button",class:"all",onClick:()=>y({q:Ze(
Ne("",[...o,["__name__",e]])),lang:null,m:null,agg:null}),children:"Quantiles 0.5, 0.9, 0.99"})}),t("li",{children:t("button",{type:"button",class:"all",onClick:()=>y({q:null,lang:null,m:c.map(({s:d})=>d.
id)}),children:a.length>Me?`The first ${Me} on one chart`:`All ${a.length} on one chart`})}),i.map(({s:d,title:p})=>t("li",{children:t("button",{type:"button","aria-pressed":l.some(s=>s.id===d.id),title:vt(
d),onClick:()=>ht(l,d.id),children:t("span",{children:bt(p)})})},d.id))]})}var At=new Intl.Collator("en",{numeric:!0}).compare,bt=e=>e.split(/(?<=[_./,:=])/).flatMap((r,o)=>o?[t("wbr",{},o),r]:[r]);function Qt(e,r){
let[o,l]=v({of:e,lines:Ce}),a=o.of===e?o.lines:Ce;return $(()=>{if(a>=r)return;let n=0,i=setTimeout(()=>{n=requestIdleCallback(()=>l({of:e,lines:a+Gt}),{timeout:1e3})},a===Ce?250:0);return()=>{clearTimeout(
i),cancelIdleCallback(n)}},[e,a,r]),a}var Ce=40,Gt=65,wt={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},pt=e=>wt[e]??e,vt=e=>[
e.name,e.resource,e.place[""],...Object.entries(e.labels).map(([r,o])=>`${r}=${o}`)].filter(Boolean).join(`
`),yt=e=>e.place[""]??e.labels.instance??e.labels.job??"",ut=["job","instance","resource_type","project_id","original_resource_id"],Vt=new Set(["le","quantile"]);function Ht(e,r){let o=new Set(r.map(([
n])=>n)),l=n=>o.has(n.name)?0:ut.includes(n.name)?1+ut.indexOf(n.name):n.name in wt?99:Vt.has(n.name)?98:9,a=n=>n.counts.reduce((i,c)=>i+c.value,0);return e.facets.filter(n=>o.has(n.name)||n.values>1||
n.counts[0].value<e.total).sort((n,i)=>l(n)-l(i)||a(i)-a(n))}var xt=12,Zt=3,Jt=8,Kt=340;function kt({finder:e}){let{params:r}=j.use(),o=S(()=>Yt(e.series??[]),[e.series]),l=o.flatMap(([,p])=>p),a=B(1),{value:n,error:i}=R(async p=>{let s=new Map((await Qe(l)).map(
u=>[u.id,u])),g=async(u,h,C)=>{let N=await pe(u.flat(),["mean"],h.from,h.to,z=>de(z,h.from,h.to,Kt,C),p),W=new Map(N.map(z=>[z.metric.id,z]));return Promise.all(u.map(async z=>{let O=z.flatMap(G=>W.get(
G.id)??[]);if(C||r.has("from")||O.some(G=>G.times.length))return{range:h,columns:O};let A=await ue(z,h.from,p);if(!A)return{range:h,columns:O};let Q=A+h.span/60;return(await g([z],{...h,from:Q-h.span,
to:Q},A))[0]}))};a.current=Math.min(10,...[...s.values()].map(u=>u.policy.items[0].granularity));let w=new Map,x=[];for(let[,u]of o){let h=u.flatMap(C=>s.get(C.id)??[]);if(h.length&&u[0].labels.le&&/_bucket$/.
test(u[0].name)){let C=_(r,U(h));x.push(Je(h[0],e.labels,C.from,C.to,p).then(N=>({range:C,...N})))}else h.length&&w.set(U(h),[...w.get(U(h))??[],h])}let f=await Promise.all([...[...w].map(([u,h])=>g(h,
_(r,u))),...x]);return new Map(f.flat().map(u=>[u.columns[0]?.metric.id??"",u]))},[o,r.get("from"),r.get("to")],me(r,Math.max(1,a.current))),[c,d]=v(!1);return $(()=>{if(!n||c)return;let p=setTimeout(
()=>d(!0));return()=>clearTimeout(p)},[n,c]),e.series?o.length?t(P,{children:[i&&t(k,{bad:!0,children:i}),(e.text||e.labels.length>0||r.has("from"))&&t(fe,{range:[...n?.values()??[]][0]?.range??_(r)}),
t("div",{class:"tiles",children:o.slice(0,c?xt:Zt).map(([p,s])=>n&&t(Xt,{name:p,drawn:s.map(g=>n.get(g.id)).find(Boolean)},s[0].id))})]}):t(k,{children:"No metric is called like that."}):e.error?null:
t(k,{children:"Looking for metrics \u2026"})}function Yt(e){let r=new Map;for(let a of e){let n=a.resource+"/"+a.name.replace(/\d+/g,"#"),i=r.get(n)??[];if(i.length<Jt&&r.set(n,[...i,a]),r.size>xt){r.
delete(n);break}}let o=[...r.values()],l=E(o.map(a=>({...a[0],name:a.length>1?a[0].name.replace(/\d+/g,"*"):a[0].name})));return o.map((a,n)=>[l[n],a])}function Xt({name:e,drawn:r}){if(!r?.columns.length)
return null;let{columns:o,range:l,query:a}=r,n=se(e,o[0].metric.unit),i=K(o[0].metric)?ie(n):n,c=E(o.map(s=>s.metric)),d=o.map((s,g)=>({label:c[g],color:g,times:s.times,values:Object.values(s.values)[0]??
[],step:s.item.granularity})),p=d.map(s=>s.values.at(-1)).filter(s=>s!=null);return t("a",{class:"panel tile",href:F("explore",a?{q:a}:{m:o.map(s=>s.metric.id)}),"data-name":e,children:[t("header",{children:[
t("h3",{title:e,children:e}),t("span",{class:"now",children:[p.slice(0,3).map(s=>Le(s,i,3)).join(" \xB7 "),p.length>3&&" \u2026"]})]}),t(ge,{lines:d,from:l.from,to:l.to,height:130,unit:i,zone:D(),title:e,
small:!0})]})}var er=M(()=>import("./lazy_pages-ZKVZF5NO.js").then(e=>e.First)),tr=M(()=>import("./lazy_pages-ZKVZF5NO.js").then(e=>e.QueryView));function St(){let{params:e}=j.use(),r=gt(e),o=e.getAll("m"),l=o.join(),
[a,n]=v([]),[i,c]=v("");oe(()=>{let p=!0;return c(""),Ae(o).then(s=>{if(!p)return;n(s.flatMap(w=>w.status==="fulfilled"?[w.value]:[]));let g=s.find(w=>w.status==="rejected");g&&c(g.reason.message)}),()=>{
p=!1}},[l]);let d=S(()=>a.filter(p=>o.includes(p.id)),[a,l]);return r.empty?t(er,{}):t("div",{class:"split",children:[t(ft,{finder:r,chosen:d}),t("div",{children:[i&&t(k,{bad:!0,children:i}),e.has("q")?
t(tr,{}):o.length?d.length>0&&t(ct,{metrics:d}):t(kt,{finder:r})]})]})}var zt=[{name:"explore",title:"Explore",page:St},{name:"boards",title:"Boards",page:M(()=>import("./lazy_pages-ZKVZF5NO.js").then(e=>e.Boards))},{name:"policies",title:"Policies",page:M(()=>import("./lazy_pages-ZKVZF5NO.js").
then(e=>e.Policies))},{name:"correlations",title:"Correlations",page:M(()=>import("./lazy_pages-ZKVZF5NO.js").then(e=>e.Correlations))},{name:"server",title:"Server",page:M(()=>import("./lazy_pages-ZKVZF5NO.js").
then(e=>e.Server))},{name:"metric",page:M(()=>import("./lazy_pages-ZKVZF5NO.js").then(e=>e.MetricPage))}];function rr(){let e=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=D(),[o,l]=v([]);
$(()=>{let n=setTimeout(()=>l(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(n)},[]);let a=S(()=>[...new Set([e,"UTC",r,...o])],[e,r,o]);return t("select",{"aria-label":"Time zone",value:r,
onChange:n=>y({tz:n.currentTarget.value===e?null:n.currentTarget.value}),children:a.map(n=>t("option",{value:n,children:n.replaceAll("_"," ")},n))})}var $e=null;document.addEventListener("focusin",e=>{
$e=e.target});function nr(){let e=j.use(),r=ae.use(),o=Fe.use(),l=Xe.use(),a=zt.find(c=>c.name===e.page),n=a?.page;$(()=>{document.title=(a?.title??"Metric")+" \xB7 Gnocco"},[a]);let i=B(e.page);return oe(
()=>{(e.page!==i.current||$e&&!$e.isConnected)&&Se(),i.current=e.page},[e]),t(P,{children:[t("a",{class:"skip",href:"#main",onClick:c=>{c.preventDefault(),Se()},children:"To the content"}),t("header",
{class:"top",children:[t("a",{class:"brand",href:"#/explore",children:[t("img",{src:it,alt:"",width:"22",height:"22"}),"Gnocco"]}),t("nav",{"aria-label":"Pages",children:zt.map(c=>c.title&&t("a",{href:F(
c.name),"aria-current":c.name===e.page?"page":void 0,children:c.title},c.name))}),t("div",{class:"settings",children:[t(rr,{}),t("button",{type:"button",class:"icon","aria-label":l==="dark"?"Light col\
ours":"Dark colours",title:l==="dark"?"Light colours":"Dark colours",onClick:et,children:l==="dark"?"\u2600":"\u263E"}),r.credentials!=="none"&&r.user&&t("button",{type:"button",onClick:()=>{Ee()},title:"\
Sign out, or in as somebody else",children:r.user})]})]}),t("main",{id:"main",tabIndex:-1,children:[o&&t(st,{}),!o&&a?.title&&t(Ie,{hidden:!0,children:a.title},a.name),!o&&(n?t(n,{},e.page+r.user):t(k,
{children:["There is no page of this name. ",t("a",{href:F("explore"),children:"Explore"})," is where to begin."]}))]})]})}qe(t(nr,{}),document.getElementById("app"));
