import"./chunk-HTK7XWML.js";import{A as et,B as U,C as tt,D as rt,E as nt,F as ge,G as fe,H as ot,I as ee,J as he,K as at,M as te,N as be,O as it,P as st,Q as lt,R as ct,T as H,U as mt,W as dt,X as ut,
Y as pt,a as me,b as de,c as v,d as N,f as ue,h as t,i as y,j as Re,k as Je,l as j,m as P,n as Y,o as Ke,p as Ye,q as $,r as F,s as D,t as x,u as X,v as pe,w as L,x as Xe}from"./chunk-YSGMGFPA.js";
import{b as z,c as Ae,d as b,e as S,f as V,g as T,h as C,j as ce,k as Ge,m as Ve,n as He,o as $e,p as Qe,q as Ze}from"./chunk-MQHZGXVX.js";import{h as Pe,i as Ue,t as Be,u as Ie,x as We}from"./chunk-6UDEE4JO.js";var gt="./icon-CQTSC6ED.svg";function ft(){let e=ce.use(),[r,o]=b(""),[i,a]=b(""),[n,s]=b(""),[c,l]=b(e.credentials==="token");return t("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await Ve(e.credentials,
c?"":r,i)}catch(f){let w=e.credentials==="token"?"Wrong token or secret":"Wrong user or password";s(f.status===401?w:f.message)}},children:[t("h1",{children:"Sign in"}),e.expired&&!n&&t("p",{class:"no\
tice",role:"status",children:"Your sign-in has expired. Please sign in again; the page goes on where you were."}),n&&t("p",{class:"notice bad",role:"alert",children:n}),!c&&t("label",{children:[e.credentials===
"token"?"Application credential":"User",t("input",{name:"user",value:r,onInput:u=>o(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),e.credentials!=="name"&&t("label",{children:[
c?"Keystone token":e.credentials==="token"?"Secret":"Password",t("input",{name:"secret",type:"password",value:i,onInput:u=>a(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),
t("button",{type:"submit",class:"main",children:"Sign in"}),e.credentials==="token"&&t("button",{type:"button",class:"plain",onClick:()=>l(!c),children:c?"Use an application credential":"Use a token"}),
e.credentials==="name"&&t("p",{class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function O(e){let r;return function(){let[,i]=b(0),[a,n]=b(!1);V(()=>{r||e().then(c=>{r=c,i(1)},()=>n(!0))},[]);let s=r;return s?t(s,{}):a?t(y,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var Vt=O(()=>import("./lazy_pages-PXUJ7QV6.js").then(e=>e.Changed)),Ht=4,Qt=5e3;function vt({metrics:e}){let{params:r}=F.use(),[o]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),i=e.some(ee),a=i&&(r.get("agg")??"rate")==="rate",n=!a&&r.get("agg")||"mean",s=r.get("g"),c=e.length<=Ht,l=c&&n==="mean"&&!a,m=[...new Set(e.flatMap(d=>d.policy.methods.filter(h=>/^[\d.]+pct$/.
test(h))))].sort((d,h)=>parseFloat(d)-parseFloat(h)),u={cmp:!0,pct:c&&m.length>0&&!a,raw:c&&!a},f=d=>u[d]&&r.get(d)==="1",w=te(e),_=X(r,w),g=Math.min(...e.map(d=>d.policy.items[0].granularity)),{value:p,
error:R,loading:ke}=$(async d=>{let h=a?he:ot,ae=async(le,Dt)=>{let{from:K,to:Ce,span:Le}=le,Ee=G=>s&&G.items.find(At=>At.granularity===+s)||fe(G,K,Ce,o,it(e)),Ut=[n,...l?["min","max"]:[],...f("pct")?
m:[]],De=f("raw")&&e.some(G=>Le/G.policy.items[0].granularity>Qt),[Bt,It,Wt]=await Promise.all([h(e,Ut,K,Ce,Ee,d),f("cmp")?h(e,[n],K-Le,K,Ee,d):[],f("raw")&&!De?Promise.all(e.map(G=>st(G.id,K,Ce,d))):
[]]);return{range:le,columns:Bt,before:It,raw:Wt,method:n,tooMany:De,newest:Dt}},ie=X(r,w),ze=await ae(ie,null);if(ze.columns.some(le=>le.times.length))return ze;let se=await be(e,ie.from,d);if(!se||r.
has("from"))return{...ze,newest:se};let Fe=se+g;return ae({...ie,from:Fe-ie.span,to:Fe},se)},[e,n,a,s,...["from","to","live","cmp","pct","raw"].map(d=>r.get(d))],_.live?pe(r,Math.min(30,Math.max(1,g))):
0),Q=C(()=>p?Yt(p):[],[p]),M=dt(Q),I=C(()=>M.shown.map(d=>l&&!d.derived?{...d,low:p.columns[d.color].values.min,high:p.columns[d.color].values.max}:d),[M.shown,l]),E=[...new Set(e.flatMap(d=>d.policy.
methods))].sort((d,h)=>ht(d)-ht(h)||d.localeCompare(h,"en",{numeric:!0})),ne=[...new Set(e.flatMap(d=>d.policy.items.map(h=>h.granularity)))].sort((d,h)=>d-h),W=de(e[0].name??"",e[0].unit),_e=a&&ee(e[0])?
me(W):W,A=L(),oe=r.get("view")==="table",Z=Xe(r),J=e.length===1?e[0].name??e[0].id:`${e.length} metrics`,q=p?.range??_,Se=(d,h)=>x({from:String(Math.floor(d)),to:String(Math.ceil(h))}),Me=(d,h,ae)=>u[d]&&
t("button",{type:"button","aria-pressed":f(d),title:ae,onClick:()=>x({[d]:f(d)?null:"1"}),children:h});return t(z,{children:[t(mt,{range:q,children:[t("label",{class:"aside",children:["Show"," ",t("se\
lect",{"aria-label":"Aggregation method",value:a?"rate":n,onChange:d=>x({agg:d.currentTarget.value===(i?"rate":"mean")?null:d.currentTarget.value}),children:[i&&t("option",{children:"rate"}),(E.includes(
n)?E:[n,...E]).map(d=>t("option",{children:d},d))]})]}),t("label",{class:"aside",children:["of"," ",t("select",{"aria-label":"Granularity",value:s??"",onChange:d=>x({g:d.currentTarget.value||null}),children:[
t("option",{value:"",children:"what fits"}),ne.map(d=>t("option",{value:String(d),children:N(d)},d))]})]})]}),R&&t(y,{bad:!0,children:R}),t(j,{title:J,id:"drawn",aside:t(z,{children:[i&&t("button",{type:"\
button","aria-pressed":a,title:"What counters grow by in a second, instead of what they stand at",onClick:()=>x({agg:a?"mean":null}),children:"Rate"}),Me("cmp","Before",`Compare with the ${N(Math.round(
q.span))} before`),Me("pct","Percentiles",m.join(", ")),Me("raw","Raw","Single measures, as far as they are kept"),t("button",{type:"button","aria-pressed":!!Z,title:"Mark a time, and see which metric\
s moved most",onClick:()=>x({w:Z?null:Jt(q)}),children:"What changed here?"}),t("button",{type:"button","aria-pressed":oe,onClick:()=>x({view:oe?null:"table"}),children:"Table"}),t(Ye,{title:"Copy",children:[
t(er,{metrics:e,columns:p?.columns,method:n,range:q}),!oe&&t("button",{type:"button",onClick:()=>{import("./lazy_pages-PXUJ7QV6.js").then(({picture:d})=>d("drawn",J,I,`${ue(q.from,A)} \u2013 ${ue(q.to,
A)} ${A}`)).then(d=>Ke(d,J+".png"))},children:"PNG"})]})]}),children:[p&&t("p",{class:"hint",id:"archive","data-from":p.range.from,children:Xt(p)}),p?.newest&&t(y,{children:["Newest measure ",ue(p.newest,
A),p.newest<p.range.from?": ":", and none since",p.newest<p.range.from&&t("button",{type:"button",onClick:()=>Se(p.newest+g-w,p.newest+g),children:"Show it"})]}),p&&(oe?t(pt,{rows:Q,unit:_e,zone:A,name:J}):
t(H,{lines:I,from:q.from,to:q.to,height:340,unit:_e,zone:A,title:J,shades:Kt(Z),onZoom:(d,h)=>Z?x({w:`${Math.floor(d)}-${Math.ceil(h)}`}):Se(d,h),onPan:Se})),!p&&ke&&t("p",{class:"hint",children:"Read\
ing \u2026"})]}),Z&&t(Vt,{}),p&&t(ut,{rows:Q,unit:_e,legend:M,onRemove:d=>x({m:e.map(h=>h.id).filter(h=>h!==d)}),href:d=>D("metric",{id:d})})]})}var Zt=["mean","max","min","sum","count","last","first",
"median","std"],ht=e=>Zt.indexOf(e)+1||99,Jt=({from:e,to:r})=>`${Math.floor(r-(r-e)/3)}-${Math.ceil(r)}`,Kt=e=>e?[{from:2*e.from-e.to,to:e.from,faint:!0},e]:[];function Yt({range:e,columns:r,before:o,
raw:i,method:a}){let n=U(r.map(c=>c.metric)),s=r.map((c,l)=>bt(c,l,a,n[l]));return r.forEach((c,l)=>{let{id:m,label:u}=s[l];for(let[f,w]of Object.entries(c.values))f!==a&&/pct$/.test(f)&&s.push({...s[l],
id:m+f,label:`${u} ${f}`,values:w,look:"dotted",derived:!0});o[l]&&s.push({...bt(o[l],l,a,n[l]),id:m+"before",label:`${u}, ${N(Math.round(e.span))} before`,times:o[l].times.map(f=>f+e.span),look:"dash\
ed",derived:!0}),i[l]?.times.length&&s.push({...s[l],id:m+"raw",label:`${u}, measures`,...i[l],look:"dots",derived:!0})}),s}function bt(e,r,o,i){let[a,n]=o in e.values?[o,e.values[o]]:Object.entries(e.
values)[0]??[o,[]];return{id:e.metric.id,label:i+(a===o||a==="rate"?"":` (${a})`),color:r,times:e.times,values:n,step:e.item.granularity}}function Xt({columns:e,method:r,raw:o,tooMany:i}){let a=new Set(
e.map(s=>{let c=r in s.values?r:Object.keys(s.values)[0]??r;return c==="rate"?`rate a second, by ${N(s.item.granularity)} (archive policy ${s.metric.policy.name})`:`${c} of ${N(s.item.granularity)}, k\
ept for ${N(s.item.timespan)} (archive policy ${s.metric.policy.name})`})),n=o.length?o.some(s=>s.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this \
time":"";return"Drawn from "+[...a].join("; ")+(i?"; zoom in to see raw measures":n)}function er({metrics:e,columns:r,method:o,range:i}){let a=Math.floor(i.from),n=Math.ceil(i.to),s=e[0],c=r?.[0]?.item.
granularity??s.policy.items[0].granularity,l=`start=${a}&stop=${n}&granularity=${c}&aggregation=${encodeURIComponent(o)}`,m=u=>e.map(u).join(`
`);return t(z,{children:[t(Y,{label:"curl",title:"Copy as curl",text:m(u=>`curl -u USER: '${$e(`/v1/metric/${u.id}/measures?${l}`)}'`)}),t(Y,{label:"Python",title:"Copy as Python",text:tr(e.map(u=>u.id),
l)}),t(Y,{label:"gnocchi",title:"Copy for Gnocchi's client",text:m(u=>`gnocchi measures show ${u.id} --aggregation ${o} --granularity ${c} --start ${a} --stop ${n}`)}),t(Y,{label:"PromQL",title:"Copy \
as PromQL",text:e.map(Te).join(" or ")})]})}var tr=(e,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(e)}:
    request = urllib.request.Request(${JSON.stringify($e("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,Te=e=>`{${[Pe(e.name??""),...e.resource?[`resource_id=${Pe(e.resource)}`]:[]].join(", ")}}`;var ve=4,Ne=40;function kt(e){let{text:r,labels:o}=We(e),i=!r&&!o.length&&!e.has("m")&&!e.has("q"),[a,n]=b(!1),s=[r,o.join(`
`)],c=a?1:15,{value:l,error:m}=$(g=>ge(r,o,g),s,c),{value:u,error:f}=$(g=>rt(r,o,g),s,c),{value:w}=$(g=>nt(r,o,g),s,c),_=i&&l?.length===0;return S(()=>n(_),[_]),{text:r,labels:o,series:l,counts:u,names:w,
error:m??f,empty:_}}function _t({finder:e,chosen:r}){let{text:o,labels:i,series:a,counts:n,names:s,error:c}=e,[l,m]=b(o),u=T(o);S(()=>{o!==u.current&&(u.current=o,m(o))},[o]),S(()=>{if(l===u.current)return;
let g=setTimeout(()=>{u.current=l,x({find:l||null},!0)},150);return()=>clearTimeout(g)},[l]);let f=ar(o+`
`+i.join(`
`),s?.counts.length??0),w=C(()=>s?.counts.slice(0,f).map(({name:g,value:p})=>t(rr,{name:g,value:p,text:o,labels:i,chosen:r,first:a?.find(R=>R.name===g)},g)),[s,a,r,f,o,i.join(`
`)]),_=n?lr(n,i):[];return t("aside",{class:"panel finder","aria-label":"Find metrics",children:[t("div",{class:"search",children:[t("input",{type:"search",placeholder:"Find metrics","aria-label":"Fin\
d metrics by name",value:l,onInput:g=>m(g.currentTarget.value)}),t("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>x({q:r.map(Te).join(" or "),m:null,
agg:null,g:null}),children:"\u0192(x)"})]}),t("div",{class:"facets",children:_.slice(0,ve).map(g=>t(wt,{facet:g,labels:i},g.name))}),_.length>ve&&t("details",{class:"more",children:[t("summary",{children:[
_.length-ve," more labels"]}),t("div",{class:"facets",children:_.slice(ve).map(g=>t(wt,{facet:g,labels:i},g.name))})]}),c&&t(y,{bad:!0,children:c}),n&&t("p",{class:"hint",id:"found",children:n.total===
1?"1 metric":`${n.total.toLocaleString("en")} metrics`}),t("ul",{class:"found",children:[w,s&&f>=s.counts.length&&s.values>s.counts.length&&t("li",{class:"hint",children:["and ",(s.values-s.counts.length).
toLocaleString("en")," more names: type, or choose above, to narrow"]})]})]})}function wt({facet:{name:e,values:r,counts:o},labels:i}){let a=i.find(([n])=>n===e)?.[1]??"";return t("select",{"aria-labe\
l":yt(e),"data-label":e,value:a,onChange:n=>x({l:[...i.filter(([s])=>s!==e),...n.currentTarget.value?[[e,n.currentTarget.value]]:[]].map(s=>s.join("="))}),children:[t("option",{value:"",children:yt(e)}),
a&&!o.some(n=>n.name===a)&&t("option",{value:a,children:a}),o.map(n=>t("option",{value:n.name,children:[n.name," (",n.value.toLocaleString("en"),")"]},n.name)),r>o.length&&t("option",{disabled:!0,children:[
"and ",(r-o.length).toLocaleString("en")," more"]})]})}var St=(e,r)=>{let o=e.map(i=>i.id);x({q:null,lang:null,m:o.includes(r)?o.filter(i=>i!==r):[...o,r]})};function rr({name:e,value:r,text:o,labels:i,
chosen:a,first:n}){let[s,c]=b(!1),l=a.some(u=>u.id===n?.id||u.name===e),m=async()=>{let u=n?.id??(await ge(o,[...i,["__name__",e]]))[0]?.id;u&&St(a,u)};return t("li",{children:[t("button",{type:"butto\
n","aria-pressed":r===1||l?l:void 0,"aria-expanded":r>1?s:void 0,title:n&&r===1?Ct(n):e,onClick:()=>r>1?c(!s):void m(),children:[t("span",{children:[r>1&&t("i",{class:"turn",children:s?"\u25BE":"\u25B8"}),
Mt(e)]}),t("small",{children:r>1?r.toLocaleString("en"):n&&Pt(n)})]}),s&&r>1&&t(nr,{name:e,value:r,text:o,labels:i,chosen:a})]})}function nr({name:e,text:r,labels:o,chosen:i}){let{value:a,error:n}=$(l=>ge(
r,[...o,["__name__",e]],l),[e,r,o.join(`
`)]),s=C(()=>{let l=U(a??[]).map(m=>m.slice(e.length).replace(/^ · /,""));return(a??[]).map((m,u)=>({s:m,title:l[u]||Pt(m)||m.id})).sort((m,u)=>or(m.title,u.title))},[a]);if(n)return t(y,{bad:!0,children:n});
if(!a)return t("p",{class:"hint",children:"Reading \u2026"});let c=s.slice(0,Ne);return t("ul",{children:[e.endsWith("_bucket")&&t("li",{children:t("button",{type:"button",class:"all",onClick:()=>x({q:at(
Ue("",[...o,["__name__",e]])),lang:null,m:null,agg:null}),children:"Quantiles 0.5, 0.9, 0.99"})}),t("li",{children:t("button",{type:"button",class:"all",onClick:()=>x({q:null,lang:null,m:c.map(({s:l})=>l.
id)}),children:a.length>Ne?`The first ${Ne} on one chart`:`All ${a.length} on one chart`})}),s.map(({s:l,title:m})=>t("li",{children:t("button",{type:"button","aria-pressed":i.some(u=>u.id===l.id),title:Ct(
l),onClick:()=>St(i,l.id),children:t("span",{children:Mt(m)})})},l.id))]})}var or=new Intl.Collator("en",{numeric:!0}).compare,Mt=e=>e.split(/(?<=[_./,:=])/).flatMap((r,o)=>o?[t("wbr",{},o),r]:[r]);function ar(e,r){
let[o,i]=b({of:e,lines:je}),a=o.of===e?o.lines:je;return S(()=>{if(a>=r)return;let n=0,s=setTimeout(()=>{n=requestIdleCallback(()=>i({of:e,lines:a+ir}),{timeout:1e3})},a===je?250:0);return()=>{clearTimeout(
s),cancelIdleCallback(n)}},[e,a,r]),a}var je=40,ir=65,zt={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},yt=e=>zt[e]??e,Ct=e=>[
e.name,e.resource,e.place[""],...Object.entries(e.labels).map(([r,o])=>`${r}=${o}`)].filter(Boolean).join(`
`),Pt=e=>e.place[""]??e.labels.instance??e.labels.job??"",xt=["job","instance","resource_type","project_id","original_resource_id"],sr=new Set(["le","quantile"]);function lr(e,r){let o=new Set(r.map(([
n])=>n)),i=n=>o.has(n.name)?0:xt.includes(n.name)?1+xt.indexOf(n.name):n.name in zt?99:sr.has(n.name)?98:9,a=n=>n.counts.reduce((s,c)=>s+c.value,0);return e.facets.filter(n=>o.has(n.name)||n.values>1||
n.counts[0].value<e.total).sort((n,s)=>i(n)-i(s)||a(s)-a(n))}var $t=12,cr=3,mr=8,dr=340;function Rt({finder:e}){let{params:r}=F.use(),o=C(()=>ur(e.series??[]),[e.series]),i=o.flatMap(([,m])=>m),a=T(1),{value:n,error:s}=$(async m=>{let u=new Map((await tt(i)).map(
g=>[g.id,g])),f=async(g,p,R)=>{let ke=await he(g.flat(),["mean"],p.from,p.to,M=>fe(M,p.from,p.to,dr,R),m),Q=new Map(ke.map(M=>[M.metric.id,M]));return Promise.all(g.map(async M=>{let I=M.flatMap(W=>Q.
get(W.id)??[]);if(R||r.has("from")||I.some(W=>W.times.length))return{range:p,columns:I};let E=await be(M,p.from,m);if(!E)return{range:p,columns:I};let ne=E+p.span/60;return(await f([M],{...p,from:ne-p.
span,to:ne},E))[0]}))};a.current=Math.min(10,...[...u.values()].map(g=>g.policy.items[0].granularity));let w=new Map;for(let[,g]of o){let p=g.flatMap(R=>u.get(R.id)??[]);p.length&&w.set(te(p),[...w.get(
te(p))??[],p])}let _=await Promise.all([...w].map(([g,p])=>f(p,X(r,g))));return new Map(_.flat().map(g=>[g.columns[0]?.metric.id??"",g]))},[o,r.get("from"),r.get("to")],pe(r,Math.max(1,a.current))),[c,
l]=b(!1);return S(()=>{if(!n||c)return;let m=setTimeout(()=>l(!0));return()=>clearTimeout(m)},[n,c]),e.series?o.length?t(z,{children:[s&&t(y,{bad:!0,children:s}),t("div",{class:"tiles",children:o.slice(
0,c?$t:cr).map(([m,u])=>n&&t(pr,{name:m,drawn:u.map(f=>n.get(f.id)).find(Boolean)},u[0].id))})]}):t(y,{children:"No metric is called like that."}):e.error?null:t(y,{children:"Looking for metrics \u2026"})}
function ur(e){let r=new Map;for(let a of e){let n=a.resource+"/"+a.name.replace(/\d+/g,"#"),s=r.get(n)??[];if(s.length<mr&&r.set(n,[...s,a]),r.size>$t){r.delete(n);break}}let o=[...r.values()],i=U(o.
map(a=>({...a[0],name:a.length>1?a[0].name.replace(/\d+/g,"*"):a[0].name})));return o.map((a,n)=>[i[n],a])}function pr({name:e,drawn:r}){if(!r?.columns.length)return null;let{columns:o,range:i}=r,a=de(
e,o[0].metric.unit),n=ee(o[0].metric)?me(a):a,s=U(o.map(m=>m.metric)),c=o.map((m,u)=>({label:s[u],color:u,times:m.times,values:Object.values(m.values)[0]??[],step:m.item.granularity})),l=c.map(m=>m.values.
at(-1)).filter(m=>m!=null);return t("a",{class:"panel tile",href:D("explore",{m:o.map(m=>m.metric.id)}),"data-name":e,children:[t("header",{children:[t("h3",{title:e,children:e}),t("span",{class:"now",
children:[l.slice(0,3).map(m=>v(m,n,3)).join(" \xB7 "),l.length>3&&" \u2026"]})]}),t(H,{lines:c,from:i.from,to:i.to,height:130,unit:n,zone:L(),title:e,small:!0})]})}var gr=O(()=>import("./lazy_pages-PXUJ7QV6.js").then(e=>e.First)),fr=O(()=>import("./lazy_pages-PXUJ7QV6.js").then(e=>e.QueryView));function Tt(){let{params:e}=F.use(),r=kt(e),o=e.getAll("m"),i=o.join(),
[a,n]=b([]),[s,c]=b("");V(()=>{let m=!0;return c(""),et(o).then(u=>{if(!m)return;n(u.flatMap(w=>w.status==="fulfilled"?[w.value]:[]));let f=u.find(w=>w.status==="rejected");f&&c(f.reason.message)}),()=>{
m=!1}},[i]);let l=C(()=>a.filter(m=>o.includes(m.id)),[a,i]);return r.empty?t(gr,{}):t("div",{class:"split",children:[t(_t,{finder:r,chosen:l}),t("div",{children:[s&&t(y,{bad:!0,children:s}),e.has("q")?
t(fr,{}):o.length?l.length>0&&t(vt,{metrics:l}):t(Rt,{finder:r})]})]})}function Nt(e){let r=[];for(let o of e.split(`
`)){if(!o||o.startsWith("#"))continue;let i=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(o);if(!i)continue;let a={};for(let[,n,s]of(i[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))a[n]=s.replace(/\\(.)/g,
(c,l)=>l==="n"?`
`:l);r.push({name:i[1],labels:a,value:Number(i[3])})}return r}function k(e,r,o={}){let i=e.filter(a=>a.name===r&&Object.entries(o).every(([n,s])=>a.labels[n]===s));return i.length?i.reduce((a,n)=>a+n.
value,0):null}var jt={damaged:"is damaged",missing:"is missing",later:"was written by a later version",unopened:"could not be opened"},hr={none:"none",up:"GPU",down:"GPU, out of use"},xe=2,Ot=150;function qt(){let e=$(
l=>Ze(Be,void 0,l),[],xe),r=$(async l=>({time:Date.now()/1e3,samples:Nt(await(await Qe("GET",Ie,void 0,l)).text())}),[],xe),o=T([]),i=T([]),[,a]=b(0);S(()=>{r.value&&(o.current=[...o.current,r.value].
slice(-Ot),a(l=>l+1))},[r.value]),S(()=>{e.value?.cluster&&(i.current=[...i.current,e.value.cluster.members].slice(-1-Ft),a(l=>l+1))},[e.value]);let n=r.value?.samples,s=e.value?.cluster,c=L();return t(
z,{children:[r.error&&t(y,{bad:!0,children:r.error}),e.error&&t(y,{children:[e.error,": who holds what is shown to administrators only."]}),s?.damaged.map(l=>t(y,{bad:!0,children:[l.name," ",jt[l.fault]??
jt.damaged," (since ",l.since,"): ",l.reason]},l.name)),s&&s.members.length>1&&t(j,{title:"The cluster",aside:t("span",{children:[s.members.length," processes",s.silent?.length?", silent: "+s.silent.join(
", "):""]}),children:t("dl",{class:"figures",children:[t(P,{id:"all-accepted",name:"Measures accepted",value:B(ye(s.members.map(l=>we(i.current,l.id,"accepted")))),about:v(ye(s.members.map(l=>l.figures?.
accepted??null)),"",12)+" in all"}),t(P,{id:"all-processed",name:"Measures processed",value:B(ye(s.members.map(l=>we(i.current,l.id,"processed")))),about:v(ye(s.members.map(l=>l.figures?.processed??null)),
"",12)+" in all"}),t(P,{id:"all-backlog",name:"Backlog",value:v(s.sacks.reduce((l,m)=>l+m.measures,0)),about:"lag "+v(Math.max(0,...s.sacks.map(l=>l.seconds)),"seconds",3)})]})}),n&&t(z,{children:[t(j,
{title:"This process",aside:t("span",{children:["version ",n.find(l=>l.name==="gnocco_build_info")?.labels.version,", up"," ",N(Math.round(Date.now()/1e3-(k(n,"process_start_time_seconds")??0)))]}),children:t(
"dl",{class:"figures",children:[t(P,{id:"accepted",name:"Measures accepted",value:B(re(o.current,"gnocco_incoming_measures_total")),about:v(k(n,"gnocco_incoming_measures_total"),"",12)+" in all"}),t(P,
{id:"processed",name:"Measures processed",value:B(re(o.current,"gnocco_metricd_measures_processed_total"))}),t(P,{id:"backlog",name:"Backlog",value:v(k(n,"gnocco_incoming_backlog_measures")),about:"la\
g "+v(Math.max(0,k(n,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),t(P,{id:"metrics",name:"Metrics",value:v(k(n,"gnocco_index_metrics"),"",12)}),t(P,{id:"requests",name:"Requests",value:B(
re(o.current,"gnocco_http_requests_total")),about:v(k(n,"gnocco_http_connections"))+" connections"}),t(P,{id:"cpu",name:"Processor",value:br(re(o.current,"process_cpu_seconds_total")),about:"of one co\
re"}),t(P,{id:"dropped",name:"Measures too old",value:v(k(n,"gnocco_metricd_measures_dropped_total",{reason:"too_old"}),"",12),about:"since the start"}),t(P,{id:"device",name:"Device",value:vr(n)})]})}),
t("div",{class:"two",children:[t(j,{title:"Measures a second",children:t(wr,{history:o.current,zone:c})}),t(j,{title:"Memory and disk",children:t(xr,{samples:n})})]}),t(j,{title:"Backlog by sack",aside:t(
"span",{children:[Lt(n).length," sacks held here; a full cell is the longest backlog"]}),children:t(kr,{samples:n})})]}),s&&t(j,{title:"Members",aside:s.silent?.length?t("span",{children:["silent: ",s.
silent.join(", ")]}):void 0,children:t("div",{class:"scroll",children:t("table",{id:"members",children:[t("thead",{children:t("tr",{children:[t("th",{scope:"col",children:"Member"}),t("th",{scope:"col",
children:"Address"}),t("th",{scope:"col",children:"Roles"}),t("th",{scope:"col",class:"number",children:"Accepted"}),t("th",{scope:"col",class:"number",children:"Processed"}),t("th",{scope:"col",children:"\
Memory"}),t("th",{scope:"col",children:"Device"}),t("th",{scope:"col",children:"Version"}),t("th",{scope:"col",children:"Holds"})]})}),t("tbody",{children:s.members.map(l=>t("tr",{"data-member":l.id,children:[
t("td",{class:"mono",children:l.id}),t("td",{class:"mono",children:l.address}),t("td",{children:l.roles.join(", ")}),t("td",{class:"number","data-figure":"accepted",children:B(we(i.current,l.id,"accep\
ted"))}),t("td",{class:"number","data-figure":"processed",children:B(we(i.current,l.id,"processed"))}),t("td",{"data-figure":"memory",children:l.figures?v(l.figures.memory,"bytes",3)+" of "+v(l.figures.
memory_limit,"bytes",3):"\u2013"}),t("td",{"data-figure":"device",children:l.figures?hr[l.figures.device]:"\u2013"}),t("td",{"data-figure":"version",children:l.figures?.version??"\u2013"}),t("td",{children:_r(
s.claims.filter(m=>m.member===l.id).map(m=>m.name))})]},l.id))})]})})})]})}var Ft=5;function we(e,r,o){let i=e.map(s=>s.find(c=>c.id===r)?.figures).filter(s=>s!==void 0),a=i[0],n=i.at(-1);return a&&n&&
n.uptime>a.uptime?(n[o]-a[o])/(n.uptime-a.uptime):null}function ye(e){let r=e.filter(o=>o!==null);return r.length?r.reduce((o,i)=>o+i,0):null}function re(e,r,o=Ft){let i=e.at(-1),a=e.at(-1-o)??e[0];if(!i||
i===a)return null;let n=k(a.samples,r),s=k(i.samples,r);return n===null||s===null||s<n?null:(s-n)/(i.time-a.time)}var B=e=>e===null?"\u2013":v(e,"",3)+" /s",br=e=>e===null?"\u2013":v(100*e,"percent",3);
function vr(e){return e.filter(o=>o.name.startsWith("gnocco_gpu_")).length?(k(e,"gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function wr({history:e,zone:r}){let o=(a,n,s)=>{let c=[],l=[];for(let m=1;m<
e.length;m++)c.push(e[m].time),l.push(re(e.slice(0,m+1),n,1));return{label:a,color:s,times:c,values:l,step:xe*2}},i=e.at(-1)?.time??Date.now()/1e3;return t(H,{lines:[o("accepted","gnocco_incoming_meas\
ures_total",0),o("processed","gnocco_metricd_measures_processed_total",1)],from:i-xe*Ot,to:i,height:180,unit:"",zone:r,title:"Measures a second"})}var yr=["index","incoming","sacks"];function xr({samples:e}){
let r=k(e,"process_resident_memory_bytes")??0,o=k(e,"go_gc_gomemlimit_bytes")??0,i=k(e,"gnocco_memory_used_bytes")??0,a=k(e,"gnocco_memory_budget_bytes")??0,n=yr.map(c=>[c,k(e,"gnocco_store_disk_bytes",
{store:c})??0]),s=Math.max(1,...n.map(([,c])=>c));return t(z,{children:[t(Oe,{id:"memory",name:"Memory of the process",value:r,of:o<1e18?o:0}),t(Oe,{id:"budget",name:"Held by requests",value:i,of:a}),
n.map(([c,l])=>t(Oe,{id:"disk-"+c,name:"Disk: "+c,value:l,share:l/s},c))]})}function Oe({id:e,name:r,value:o,of:i,share:a}){return t("div",{id:e,"data-value":o,children:[t("div",{class:"aside",children:[
t("span",{children:r}),t("b",{style:{marginLeft:"auto"},children:[v(o,"bytes",3),i?" of "+v(i,"bytes",3):""]})]}),t("div",{class:"meter",children:t("i",{style:{width:100*Math.min(1,a??(i?o/i:0))+"%"}})})]})}
var Lt=e=>e.filter(r=>r.name==="gnocco_sack_backlog_measures").sort((r,o)=>+r.labels.sack-+o.labels.sack);function kr({samples:e}){let r=Lt(e),o=Math.max(1,...r.map(i=>i.value));return t("div",{class:"\
strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${v(Math.max(0,...r.map(i=>i.value)))} at most`,children:r.map(i=>t("i",{"data-sack":i.labels.sack,"data-value":i.value,title:`sack ${i.labels.
sack}: ${v(i.value)} measures wait, ${v(k(e,"gnocco_sack_backlog_age_seconds",{sack:i.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*i.value/o)}%, var(\
--accent-soft))`}},i.labels.sack))})}function _r(e){let r=e.filter(a=>a.startsWith("sacks/")).map(a=>+a.slice(6)).sort((a,n)=>a-n),o=[];for(let a=0;a<r.length;a++){let n=a;for(;r[n+1]===r[n]+1;)n++;o.
push(n>a?`${r[a]}\u2013${r[n]}`:`${r[a]}`),a=n}let i=e.filter(a=>!a.startsWith("sacks/")).map(a=>a.startsWith("incoming/")?"an incoming store":"the "+a);return[...new Set(i),...o.length?[(r.length===1?
"sack ":"sacks ")+o.join(", ")]:[]].join(", ")||"nothing"}var Et=[{name:"explore",title:"Explore",page:Tt},{name:"policies",title:"Policies",page:O(()=>import("./lazy_pages-PXUJ7QV6.js").then(e=>e.Policies))},{name:"correlations",title:"Correlations",page:O(
()=>import("./lazy_pages-PXUJ7QV6.js").then(e=>e.Correlations))},{name:"server",title:"Server",page:qt},{name:"metric",page:O(()=>import("./lazy_pages-PXUJ7QV6.js").then(e=>e.MetricPage))}];function Sr(){
let e=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=L(),[o,i]=b([]);S(()=>{let n=setTimeout(()=>i(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(n)},[]);let a=C(()=>[...new Set(
[e,"UTC",r,...o])],[e,r,o]);return t("select",{"aria-label":"Time zone",value:r,onChange:n=>x({tz:n.currentTarget.value===e?null:n.currentTarget.value}),children:a.map(n=>t("option",{value:n,children:n.
replaceAll("_"," ")},n))})}var qe=null;document.addEventListener("focusin",e=>{qe=e.target});function Mr(){let e=F.use(),r=ce.use(),o=Ge.use(),i=lt.use(),a=Et.find(c=>c.name===e.page),n=a?.page;S(()=>{
document.title=(a?.title??"Metric")+" \xB7 Gnocco"},[a]);let s=T(e.page);return V(()=>{(e.page!==s.current||qe&&!qe.isConnected)&&Re(),s.current=e.page},[e]),t(z,{children:[t("a",{class:"skip",href:"#\
main",onClick:c=>{c.preventDefault(),Re()},children:"To the content"}),t("header",{class:"top",children:[t("a",{class:"brand",href:"#/explore",children:[t("img",{src:gt,alt:"",width:"22",height:"22"}),
"Gnocco"]}),t("nav",{"aria-label":"Pages",children:Et.map(c=>c.title&&t("a",{href:D(c.name),"aria-current":c.name===e.page?"page":void 0,children:c.title},c.name))}),t("div",{class:"settings",children:[
t(Sr,{}),t("button",{type:"button",class:"icon","aria-label":i==="dark"?"Light colours":"Dark colours",title:i==="dark"?"Light colours":"Dark colours",onClick:ct,children:i==="dark"?"\u2600":"\u263E"}),
r.credentials!=="none"&&r.user&&t("button",{type:"button",onClick:He,title:"Sign in as somebody else",children:r.user})]})]}),t("main",{id:"main",tabIndex:-1,children:[o&&t(ft,{}),!o&&a?.title&&t(Je,{
hidden:!0,children:a.title},a.name),!o&&(n?t(n,{},e.page+r.user):t(y,{children:["There is no page of this name. ",t("a",{href:D("explore"),children:"Explore"})," is where to begin."]}))]})]})}Ae(t(Mr,
{}),document.getElementById("app"));
