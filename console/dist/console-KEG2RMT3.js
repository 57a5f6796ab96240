import"./chunk-OY2DO52I.js";import{A as Xe,B,C as et,D as tt,E as rt,F as ge,G as fe,H as nt,I as te,J as he,K as ot,M as re,N as be,O as at,P as it,Q as st,R as lt,S as Q,T as ct,U as mt,V as dt,
a as me,b as de,c as v,d as N,f as ue,h as t,i as w,j as $e,k as Ze,l as j,m as C,n as X,o as Je,p as Ke,q as P,r as L,s as U,t as y,u as ee,v as pe,w as q,x as Ye}from"./chunk-LLO5GU7I.js";import{
b as M,c as We,d as b,e as S,f as V,g as T,h as z,j as ce,k as Ae,m as Ge,n as Ve,o as Pe,p as Qe,q as He}from"./chunk-MQHZGXVX.js";import{h as Ce,i as De,t as Ue,u as Be,x as Ie}from"./chunk-6UDEE4JO.js";var ut="./icon-CQTSC6ED.svg";function pt(){let e=ce.use(),[r,o]=b(""),[i,a]=b(""),[n,s]=b(""),[c,l]=b(e.credentials==="token");return t("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await Ge(e.credentials,
c?"":r,i)}catch(f){s(f.status===401?"These are not known here.":f.message)}},children:[t("h1",{children:"Sign in"}),e.expired&&!n&&t("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),n&&t("p",{class:"notice bad",role:"alert",children:n}),!c&&t("label",{children:[e.credentials==="token"?"Application credential":"User",t("\
input",{name:"user",value:r,onInput:u=>o(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),e.credentials!=="name"&&t("label",{children:[c?"Keystone token":e.credentials==="t\
oken"?"Secret":"Password",t("input",{name:"secret",type:"password",value:i,onInput:u=>a(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),t("button",{type:"submit",class:"\
main",children:"Sign in"}),e.credentials==="token"&&t("button",{type:"button",class:"plain",onClick:()=>l(!c),children:c?"Use an application credential":"Use a token"}),e.credentials==="name"&&t("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function O(e){let r;return function(){let[,i]=b(0),[a,n]=b(!1);V(()=>{r||e().then(c=>{r=c,i(1)},()=>n(!0))},[]);let s=r;return s?t(s,{}):a?t(w,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var At=O(()=>import("./lazy_pages-EUV4ID75.js").then(e=>e.Changed)),Gt=4,Vt=5e3;function ht({metrics:e}){let{params:r}=L.use(),[o]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),i=e.some(te),a=i&&(r.get("agg")??"rate")==="rate",n=!a&&r.get("agg")||"mean",s=r.get("g"),c=e.length<=Gt,l=c&&n==="mean"&&!a,m=[...new Set(e.flatMap(d=>d.policy.methods.filter(h=>/^[\d.]+pct$/.
test(h))))].sort((d,h)=>parseFloat(d)-parseFloat(h)),u={cmp:!0,pct:c&&m.length>0&&!a,raw:c&&!a},f=d=>u[d]&&r.get(d)==="1",x=re(e),_=ee(r,x),g=Math.min(...e.map(d=>d.policy.items[0].granularity)),{value:p,
error:R,loading:ke}=P(async d=>{let h=a?he:nt,ae=async(le,qt)=>{let{from:Y,to:ze,span:Le}=le,qe=G=>s&&G.items.find(It=>It.granularity===+s)||fe(G,Y,ze,o,at(e)),Et=[n,...l?["min","max"]:[],...f("pct")?
m:[]],Ee=f("raw")&&e.some(G=>Le/G.policy.items[0].granularity>Vt),[Dt,Ut,Bt]=await Promise.all([h(e,Et,Y,ze,qe,d),f("cmp")?h(e,[n],Y-Le,Y,qe,d):[],f("raw")&&!Ee?Promise.all(e.map(G=>it(G.id,Y,ze,d))):
[]]);return{range:le,columns:Dt,before:Ut,raw:Bt,method:n,tooMany:Ee,newest:qt}},ie=ee(r,x),Me=await ae(ie,null);if(Me.columns.some(le=>le.times.length))return Me;let se=await be(e,ie.from,d);if(!se||
r.has("from"))return{...Me,newest:se};let Fe=se+g;return ae({...ie,from:Fe-ie.span,to:Fe},se)},[e,n,a,s,...["from","to","live","cmp","pct","raw"].map(d=>r.get(d))],_.live?pe(r,Math.min(30,Math.max(1,g))):
0),W=z(()=>p?Jt(p):[],[p]),$=z(()=>W.map(d=>l&&!d.derived?{...d,low:p.columns[d.color].values.min,high:p.columns[d.color].values.max}:d),[W,l]),E=[...new Set(e.flatMap(d=>d.policy.methods))].sort((d,h)=>gt(
d)-gt(h)||d.localeCompare(h,"en",{numeric:!0})),H=[...new Set(e.flatMap(d=>d.policy.items.map(h=>h.granularity)))].sort((d,h)=>d-h),Z=de(e[0].name??"",e[0].unit),D=a&&te(e[0])?me(Z):Z,A=q(),oe=r.get("\
view")==="table",J=Ye(r),K=e.length===1?e[0].name??e[0].id:`${e.length} metrics`,F=p?.range??_,_e=(d,h)=>y({from:String(Math.floor(d)),to:String(Math.ceil(h))}),Se=(d,h,ae)=>u[d]&&t("button",{type:"bu\
tton","aria-pressed":f(d),title:ae,onClick:()=>y({[d]:f(d)?null:"1"}),children:h});return t(M,{children:[t(ct,{range:F,children:[t("label",{class:"aside",children:["Show"," ",t("select",{"aria-label":"\
Aggregation method",value:a?"rate":n,onChange:d=>y({agg:d.currentTarget.value===(i?"rate":"mean")?null:d.currentTarget.value}),children:[i&&t("option",{children:"rate"}),(E.includes(n)?E:[n,...E]).map(
d=>t("option",{children:d},d))]})]}),t("label",{class:"aside",children:["of"," ",t("select",{"aria-label":"Granularity",value:s??"",onChange:d=>y({g:d.currentTarget.value||null}),children:[t("option",
{value:"",children:"what fits"}),H.map(d=>t("option",{value:String(d),children:N(d)},d))]})]})]}),R&&t(w,{bad:!0,children:R}),t(j,{title:K,id:"drawn",aside:t(M,{children:[i&&t("button",{type:"button",
"aria-pressed":a,title:"What counters grow by in a second, instead of what they stand at",onClick:()=>y({agg:a?"mean":null}),children:"Rate"}),Se("cmp","Before",`Compare with the ${N(Math.round(F.span))}\
 before`),Se("pct","Percentiles",m.join(", ")),Se("raw","Raw","Single measures, as far as they are kept"),t("button",{type:"button","aria-pressed":!!J,title:"Mark a time, and see which metrics moved m\
ost",onClick:()=>y({w:J?null:Ht(F)}),children:"What changed here?"}),t("button",{type:"button","aria-pressed":oe,onClick:()=>y({view:oe?null:"table"}),children:"Table"}),t(Ke,{title:"Copy",children:[t(
Yt,{metrics:e,columns:p?.columns,method:n,range:F}),!oe&&t("button",{type:"button",onClick:()=>{import("./lazy_pages-EUV4ID75.js").then(({picture:d})=>d("drawn",K,$,`${ue(F.from,A)} \u2013 ${ue(F.to,
A)} ${A}`)).then(d=>Je(d,K+".png"))},children:"PNG"})]})]}),children:[p&&t("p",{class:"hint",id:"archive","data-from":p.range.from,children:Kt(p)}),p?.newest&&t(w,{children:["Newest measure ",ue(p.newest,
A),p.newest<p.range.from?": ":", and none since",p.newest<p.range.from&&t("button",{type:"button",onClick:()=>_e(p.newest+g-x,p.newest+g),children:"Show it"})]}),p&&(oe?t(dt,{rows:W,unit:D,zone:A,name:K}):
t(Q,{lines:$,from:F.from,to:F.to,height:340,unit:D,zone:A,title:K,shades:Zt(J),onZoom:(d,h)=>J?y({w:`${Math.floor(d)}-${Math.ceil(h)}`}):_e(d,h),onPan:_e})),!p&&ke&&t("p",{class:"hint",children:"Readi\
ng \u2026"})]}),J&&t(At,{}),p&&t(mt,{rows:W,unit:D,onRemove:d=>y({m:e.map(h=>h.id).filter(h=>h!==d)}),href:d=>U("metric",{id:d})})]})}var Qt=["mean","max","min","sum","count","last","first","median","\
std"],gt=e=>Qt.indexOf(e)+1||99,Ht=({from:e,to:r})=>`${Math.floor(r-(r-e)/3)}-${Math.ceil(r)}`,Zt=e=>e?[{from:2*e.from-e.to,to:e.from,faint:!0},e]:[];function Jt({range:e,columns:r,before:o,raw:i,method:a}){
let n=B(r.map(c=>c.metric)),s=r.map((c,l)=>ft(c,l,a,n[l]));return r.forEach((c,l)=>{let{id:m,label:u}=s[l];for(let[f,x]of Object.entries(c.values))f!==a&&/pct$/.test(f)&&s.push({...s[l],id:m+f,label:`${u}\
 ${f}`,values:x,look:"dotted",derived:!0});o[l]&&s.push({...ft(o[l],l,a,n[l]),id:m+"before",label:`${u}, ${N(Math.round(e.span))} before`,times:o[l].times.map(f=>f+e.span),look:"dashed",derived:!0}),i[l]?.
times.length&&s.push({...s[l],id:m+"raw",label:`${u}, measures`,...i[l],look:"dots",derived:!0})}),s}function ft(e,r,o,i){let[a,n]=o in e.values?[o,e.values[o]]:Object.entries(e.values)[0]??[o,[]];return{
id:e.metric.id,label:i+(a===o||a==="rate"?"":` (${a})`),color:r,times:e.times,values:n,step:e.item.granularity}}function Kt({columns:e,method:r,raw:o,tooMany:i}){let a=new Set(e.map(s=>{let c=r in s.values?
r:Object.keys(s.values)[0]??r;return c==="rate"?`rate a second, by ${N(s.item.granularity)} (archive policy ${s.metric.policy.name})`:`${c} of ${N(s.item.granularity)}, kept for ${N(s.item.timespan)} \
(archive policy ${s.metric.policy.name})`})),n=o.length?o.some(s=>s.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"Drawn from "+[
...a].join("; ")+(i?"; zoom in to see raw measures":n)}function Yt({metrics:e,columns:r,method:o,range:i}){let a=Math.floor(i.from),n=Math.ceil(i.to),s=e[0],c=r?.[0]?.item.granularity??s.policy.items[0].
granularity,l=`start=${a}&stop=${n}&granularity=${c}&aggregation=${encodeURIComponent(o)}`,m=u=>e.map(u).join(`
`);return t(M,{children:[t(X,{label:"curl",title:"Copy as curl",text:m(u=>`curl -u USER: '${Pe(`/v1/metric/${u.id}/measures?${l}`)}'`)}),t(X,{label:"Python",title:"Copy as Python",text:Xt(e.map(u=>u.id),
l)}),t(X,{label:"gnocchi",title:"Copy for Gnocchi's client",text:m(u=>`gnocchi measures show ${u.id} --aggregation ${o} --granularity ${c} --start ${a} --stop ${n}`)}),t(X,{label:"PromQL",title:"Copy \
as PromQL",text:e.map(Re).join(" or ")})]})}var Xt=(e,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(e)}:
    request = urllib.request.Request(${JSON.stringify(Pe("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,Re=e=>`{${[Ce(e.name??""),...e.resource?[`resource_id=${Ce(e.resource)}`]:[]].join(", ")}}`;var ve=4,Te=40;function yt(e){let{text:r,labels:o}=Ie(e),i=!r&&!o.length&&!e.has("m")&&!e.has("q"),[a,n]=b(!1),s=[r,o.join(`
`)],c=a?1:15,{value:l,error:m}=P(g=>ge(r,o,g),s,c),{value:u,error:f}=P(g=>tt(r,o,g),s,c),{value:x}=P(g=>rt(r,o,g),s,c),_=i&&l?.length===0;return S(()=>n(_),[_]),{text:r,labels:o,series:l,counts:u,names:x,
error:m??f,empty:_}}function xt({finder:e,chosen:r}){let{text:o,labels:i,series:a,counts:n,names:s,error:c}=e,[l,m]=b(o),u=T(o);S(()=>{o!==u.current&&(u.current=o,m(o))},[o]),S(()=>{if(l===u.current)return;
let g=setTimeout(()=>{u.current=l,y({find:l||null},!0)},150);return()=>clearTimeout(g)},[l]);let f=nr(o+`
`+i.join(`
`),s?.counts.length??0),x=z(()=>s?.counts.slice(0,f).map(({name:g,value:p})=>t(er,{name:g,value:p,text:o,labels:i,chosen:r,first:a?.find(R=>R.name===g)},g)),[s,a,r,f,o,i.join(`
`)]),_=n?ir(n,i):[];return t("aside",{class:"panel finder","aria-label":"Find metrics",children:[t("div",{class:"search",children:[t("input",{type:"search",placeholder:"Find metrics","aria-label":"Fin\
d metrics by name",value:l,onInput:g=>m(g.currentTarget.value)}),t("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>y({q:r.map(Re).join(" or "),m:null,
agg:null,g:null}),children:"\u0192(x)"})]}),t("div",{class:"facets",children:_.slice(0,ve).map(g=>t(bt,{facet:g,labels:i},g.name))}),_.length>ve&&t("details",{class:"more",children:[t("summary",{children:[
_.length-ve," more labels"]}),t("div",{class:"facets",children:_.slice(ve).map(g=>t(bt,{facet:g,labels:i},g.name))})]}),c&&t(w,{bad:!0,children:c}),n&&t("p",{class:"hint",id:"found",children:n.total===
1?"1 metric":`${n.total.toLocaleString("en")} metrics`}),t("ul",{class:"found",children:[x,s&&f>=s.counts.length&&s.values>s.counts.length&&t("li",{class:"hint",children:["and ",(s.values-s.counts.length).
toLocaleString("en")," more names: type, or choose above, to narrow"]})]})]})}function bt({facet:{name:e,values:r,counts:o},labels:i}){let a=i.find(([n])=>n===e)?.[1]??"";return t("select",{"aria-labe\
l":vt(e),"data-label":e,value:a,onChange:n=>y({l:[...i.filter(([s])=>s!==e),...n.currentTarget.value?[[e,n.currentTarget.value]]:[]].map(s=>s.join("="))}),children:[t("option",{value:"",children:vt(e)}),
a&&!o.some(n=>n.name===a)&&t("option",{value:a,children:a}),o.map(n=>t("option",{value:n.name,children:[n.name," (",n.value.toLocaleString("en"),")"]},n.name)),r>o.length&&t("option",{disabled:!0,children:[
"and ",(r-o.length).toLocaleString("en")," more"]})]})}var kt=(e,r)=>{let o=e.map(i=>i.id);y({q:null,lang:null,m:o.includes(r)?o.filter(i=>i!==r):[...o,r]})};function er({name:e,value:r,text:o,labels:i,
chosen:a,first:n}){let[s,c]=b(!1),l=a.some(u=>u.id===n?.id||u.name===e),m=async()=>{let u=n?.id??(await ge(o,[...i,["__name__",e]]))[0]?.id;u&&kt(a,u)};return t("li",{children:[t("button",{type:"butto\
n","aria-pressed":r===1||l?l:void 0,"aria-expanded":r>1?s:void 0,title:n&&r===1?Mt(n):e,onClick:()=>r>1?c(!s):void m(),children:[t("span",{children:[r>1&&t("i",{class:"turn",children:s?"\u25BE":"\u25B8"}),
_t(e)]}),t("small",{children:r>1?r.toLocaleString("en"):n&&zt(n)})]}),s&&r>1&&t(tr,{name:e,value:r,text:o,labels:i,chosen:a})]})}function tr({name:e,text:r,labels:o,chosen:i}){let{value:a,error:n}=P(l=>ge(
r,[...o,["__name__",e]],l),[e,r,o.join(`
`)]),s=z(()=>{let l=B(a??[]).map(m=>m.slice(e.length).replace(/^ · /,""));return(a??[]).map((m,u)=>({s:m,title:l[u]||zt(m)||m.id})).sort((m,u)=>rr(m.title,u.title))},[a]);if(n)return t(w,{bad:!0,children:n});
if(!a)return t("p",{class:"hint",children:"Reading \u2026"});let c=s.slice(0,Te);return t("ul",{children:[e.endsWith("_bucket")&&t("li",{children:t("button",{type:"button",class:"all",onClick:()=>y({q:ot(
De("",[...o,["__name__",e]])),lang:null,m:null,agg:null}),children:"Quantiles 0.5, 0.9, 0.99"})}),t("li",{children:t("button",{type:"button",class:"all",onClick:()=>y({q:null,lang:null,m:c.map(({s:l})=>l.
id)}),children:a.length>Te?`The first ${Te} on one chart`:`All ${a.length} on one chart`})}),s.map(({s:l,title:m})=>t("li",{children:t("button",{type:"button","aria-pressed":i.some(u=>u.id===l.id),title:Mt(
l),onClick:()=>kt(i,l.id),children:t("span",{children:_t(m)})})},l.id))]})}var rr=new Intl.Collator("en",{numeric:!0}).compare,_t=e=>e.split(/(?<=[_./,:=])/).flatMap((r,o)=>o?[t("wbr",{},o),r]:[r]);function nr(e,r){
let[o,i]=b({of:e,lines:Ne}),a=o.of===e?o.lines:Ne;return S(()=>{if(a>=r)return;let n=0,s=setTimeout(()=>{n=requestIdleCallback(()=>i({of:e,lines:a+or}),{timeout:1e3})},a===Ne?250:0);return()=>{clearTimeout(
s),cancelIdleCallback(n)}},[e,a,r]),a}var Ne=40,or=65,St={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},vt=e=>St[e]??e,Mt=e=>[
e.name,e.resource,e.place[""],...Object.entries(e.labels).map(([r,o])=>`${r}=${o}`)].filter(Boolean).join(`
`),zt=e=>e.place[""]??e.labels.instance??e.labels.job??"",wt=["job","instance","resource_type","project_id","original_resource_id"],ar=new Set(["le","quantile"]);function ir(e,r){let o=new Set(r.map(([
n])=>n)),i=n=>o.has(n.name)?0:wt.includes(n.name)?1+wt.indexOf(n.name):n.name in St?99:ar.has(n.name)?98:9,a=n=>n.counts.reduce((s,c)=>s+c.value,0);return e.facets.filter(n=>o.has(n.name)||n.values>1||
n.counts[0].value<e.total).sort((n,s)=>i(n)-i(s)||a(s)-a(n))}var Ct=12,sr=3,lr=8,cr=340;function Pt({finder:e}){let{params:r}=L.use(),o=z(()=>mr(e.series??[]),[e.series]),i=o.flatMap(([,m])=>m),a=T(1),{value:n,error:s}=P(async m=>{let u=new Map((await et(i)).map(
g=>[g.id,g])),f=async(g,p,R)=>{let ke=await he(g.flat(),["mean"],p.from,p.to,$=>fe($,p.from,p.to,cr,R),m),W=new Map(ke.map($=>[$.metric.id,$]));return Promise.all(g.map(async $=>{let E=$.flatMap(D=>W.
get(D.id)??[]);if(R||r.has("from")||E.some(D=>D.times.length))return{range:p,columns:E};let H=await be($,p.from,m);if(!H)return{range:p,columns:E};let Z=H+p.span/60;return(await f([$],{...p,from:Z-p.span,
to:Z},H))[0]}))};a.current=Math.min(10,...[...u.values()].map(g=>g.policy.items[0].granularity));let x=new Map;for(let[,g]of o){let p=g.flatMap(R=>u.get(R.id)??[]);p.length&&x.set(re(p),[...x.get(re(p))??
[],p])}let _=await Promise.all([...x].map(([g,p])=>f(p,ee(r,g))));return new Map(_.flat().map(g=>[g.columns[0]?.metric.id??"",g]))},[o,r.get("from"),r.get("to")],pe(r,Math.max(1,a.current))),[c,l]=b(!1);
return S(()=>{if(!n||c)return;let m=setTimeout(()=>l(!0));return()=>clearTimeout(m)},[n,c]),e.series?o.length?t(M,{children:[s&&t(w,{bad:!0,children:s}),t("div",{class:"tiles",children:o.slice(0,c?Ct:
sr).map(([m,u])=>n&&t(dr,{name:m,drawn:u.map(f=>n.get(f.id)).find(Boolean)},u[0].id))})]}):t(w,{children:"No metric is called like that."}):e.error?null:t(w,{children:"Looking for metrics \u2026"})}function mr(e){
let r=new Map;for(let a of e){let n=a.resource+"/"+a.name.replace(/\d+/g,"#"),s=r.get(n)??[];if(s.length<lr&&r.set(n,[...s,a]),r.size>Ct){r.delete(n);break}}let o=[...r.values()],i=B(o.map(a=>({...a[0],
name:a.length>1?a[0].name.replace(/\d+/g,"*"):a[0].name})));return o.map((a,n)=>[i[n],a])}function dr({name:e,drawn:r}){if(!r?.columns.length)return null;let{columns:o,range:i}=r,a=de(e,o[0].metric.unit),
n=te(o[0].metric)?me(a):a,s=B(o.map(m=>m.metric)),c=o.map((m,u)=>({label:s[u],color:u,times:m.times,values:Object.values(m.values)[0]??[],step:m.item.granularity})),l=c.map(m=>m.values.at(-1)).filter(
m=>m!=null);return t("a",{class:"panel tile",href:U("explore",{m:o.map(m=>m.metric.id)}),"data-name":e,children:[t("header",{children:[t("h3",{title:e,children:e}),t("span",{class:"now",children:[l.slice(
0,3).map(m=>v(m,n,3)).join(" \xB7 "),l.length>3&&" \u2026"]})]}),t(Q,{lines:c,from:i.from,to:i.to,height:130,unit:n,zone:q(),title:e,small:!0})]})}var ur=O(()=>import("./lazy_pages-EUV4ID75.js").then(e=>e.First)),pr=O(()=>import("./lazy_pages-EUV4ID75.js").then(e=>e.QueryView));function $t(){let{params:e}=L.use(),r=yt(e),o=e.getAll("m"),i=o.join(),
[a,n]=b([]),[s,c]=b("");V(()=>{let m=!0;return c(""),Xe(o).then(u=>{if(!m)return;n(u.flatMap(x=>x.status==="fulfilled"?[x.value]:[]));let f=u.find(x=>x.status==="rejected");f&&c(f.reason.message)}),()=>{
m=!1}},[i]);let l=z(()=>a.filter(m=>o.includes(m.id)),[a,i]);return r.empty?t(ur,{}):t("div",{class:"split",children:[t(xt,{finder:r,chosen:l}),t("div",{children:[s&&t(w,{bad:!0,children:s}),e.has("q")?
t(pr,{}):o.length?l.length>0&&t(ht,{metrics:l}):t(Pt,{finder:r})]})]})}function Rt(e){let r=[];for(let o of e.split(`
`)){if(!o||o.startsWith("#"))continue;let i=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(o);if(!i)continue;let a={};for(let[,n,s]of(i[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))a[n]=s.replace(/\\(.)/g,
(c,l)=>l==="n"?`
`:l);r.push({name:i[1],labels:a,value:Number(i[3])})}return r}function k(e,r,o={}){let i=e.filter(a=>a.name===r&&Object.entries(o).every(([n,s])=>a.labels[n]===s));return i.length?i.reduce((a,n)=>a+n.
value,0):null}var Tt={damaged:"is damaged",missing:"is missing",later:"was written by a later version",unopened:"could not be opened"},gr={none:"none",up:"GPU",down:"GPU, out of use"},xe=2,Nt=150;function jt(){let e=P(
l=>He(Ue,void 0,l),[],xe),r=P(async l=>({time:Date.now()/1e3,samples:Rt(await(await Qe("GET",Be,void 0,l)).text())}),[],xe),o=T([]),i=T([]),[,a]=b(0);S(()=>{r.value&&(o.current=[...o.current,r.value].
slice(-Nt),a(l=>l+1))},[r.value]),S(()=>{e.value?.cluster&&(i.current=[...i.current,e.value.cluster.members].slice(-1-Ot),a(l=>l+1))},[e.value]);let n=r.value?.samples,s=e.value?.cluster,c=q();return t(
M,{children:[r.error&&t(w,{bad:!0,children:r.error}),e.error&&t(w,{children:[e.error,": who holds what is shown to administrators only."]}),s?.damaged.map(l=>t(w,{bad:!0,children:[l.name," ",Tt[l.fault]??
Tt.damaged," (since ",l.since,"): ",l.reason]},l.name)),s&&s.members.length>1&&t(j,{title:"The cluster",aside:t("span",{children:[s.members.length," processes",s.silent?.length?", silent: "+s.silent.join(
", "):""]}),children:t("dl",{class:"figures",children:[t(C,{id:"all-accepted",name:"Measures accepted",value:I(ye(s.members.map(l=>we(i.current,l.id,"accepted")))),about:v(ye(s.members.map(l=>l.figures?.
accepted??null)),"",12)+" in all"}),t(C,{id:"all-processed",name:"Measures processed",value:I(ye(s.members.map(l=>we(i.current,l.id,"processed")))),about:v(ye(s.members.map(l=>l.figures?.processed??null)),
"",12)+" in all"}),t(C,{id:"all-backlog",name:"Backlog",value:v(s.sacks.reduce((l,m)=>l+m.measures,0)),about:"lag "+v(Math.max(0,...s.sacks.map(l=>l.seconds)),"seconds",3)})]})}),n&&t(M,{children:[t(j,
{title:"This process",aside:t("span",{children:["version ",n.find(l=>l.name==="gnocco_build_info")?.labels.version,", up"," ",N(Math.round(Date.now()/1e3-(k(n,"process_start_time_seconds")??0)))]}),children:t(
"dl",{class:"figures",children:[t(C,{id:"accepted",name:"Measures accepted",value:I(ne(o.current,"gnocco_incoming_measures_total")),about:v(k(n,"gnocco_incoming_measures_total"),"",12)+" in all"}),t(C,
{id:"processed",name:"Measures processed",value:I(ne(o.current,"gnocco_metricd_measures_processed_total"))}),t(C,{id:"backlog",name:"Backlog",value:v(k(n,"gnocco_incoming_backlog_measures")),about:"la\
g "+v(Math.max(0,k(n,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),t(C,{id:"metrics",name:"Metrics",value:v(k(n,"gnocco_index_metrics"),"",12)}),t(C,{id:"requests",name:"Requests",value:I(
ne(o.current,"gnocco_http_requests_total")),about:v(k(n,"gnocco_http_connections"))+" connections"}),t(C,{id:"cpu",name:"Processor",value:fr(ne(o.current,"process_cpu_seconds_total")),about:"of one co\
re"}),t(C,{id:"dropped",name:"Measures too old",value:v(k(n,"gnocco_metricd_measures_dropped_total",{reason:"too_old"}),"",12),about:"since the start"}),t(C,{id:"device",name:"Device",value:hr(n)})]})}),
t("div",{class:"two",children:[t(j,{title:"Measures a second",children:t(br,{history:o.current,zone:c})}),t(j,{title:"Memory and disk",children:t(wr,{samples:n})})]}),t(j,{title:"Backlog by sack",aside:t(
"span",{children:[Ft(n).length," sacks held here; a full cell is the longest backlog"]}),children:t(yr,{samples:n})})]}),s&&t(j,{title:"Members",aside:s.silent?.length?t("span",{children:["silent: ",s.
silent.join(", ")]}):void 0,children:t("div",{class:"scroll",children:t("table",{id:"members",children:[t("thead",{children:t("tr",{children:[t("th",{scope:"col",children:"Member"}),t("th",{scope:"col",
children:"Address"}),t("th",{scope:"col",children:"Roles"}),t("th",{scope:"col",class:"number",children:"Accepted"}),t("th",{scope:"col",class:"number",children:"Processed"}),t("th",{scope:"col",children:"\
Memory"}),t("th",{scope:"col",children:"Device"}),t("th",{scope:"col",children:"Version"}),t("th",{scope:"col",children:"Holds"})]})}),t("tbody",{children:s.members.map(l=>t("tr",{"data-member":l.id,children:[
t("td",{class:"mono",children:l.id}),t("td",{class:"mono",children:l.address}),t("td",{children:l.roles.join(", ")}),t("td",{class:"number","data-figure":"accepted",children:I(we(i.current,l.id,"accep\
ted"))}),t("td",{class:"number","data-figure":"processed",children:I(we(i.current,l.id,"processed"))}),t("td",{"data-figure":"memory",children:l.figures?v(l.figures.memory,"bytes",3)+" of "+v(l.figures.
memory_limit,"bytes",3):"\u2013"}),t("td",{"data-figure":"device",children:l.figures?gr[l.figures.device]:"\u2013"}),t("td",{"data-figure":"version",children:l.figures?.version??"\u2013"}),t("td",{children:xr(
s.claims.filter(m=>m.member===l.id).map(m=>m.name))})]},l.id))})]})})})]})}var Ot=5;function we(e,r,o){let i=e.map(s=>s.find(c=>c.id===r)?.figures).filter(s=>s!==void 0),a=i[0],n=i.at(-1);return a&&n&&
n.uptime>a.uptime?(n[o]-a[o])/(n.uptime-a.uptime):null}function ye(e){let r=e.filter(o=>o!==null);return r.length?r.reduce((o,i)=>o+i,0):null}function ne(e,r,o=Ot){let i=e.at(-1),a=e.at(-1-o)??e[0];if(!i||
i===a)return null;let n=k(a.samples,r),s=k(i.samples,r);return n===null||s===null||s<n?null:(s-n)/(i.time-a.time)}var I=e=>e===null?"\u2013":v(e,"",3)+" /s",fr=e=>e===null?"\u2013":v(100*e,"percent",3);
function hr(e){return e.filter(o=>o.name.startsWith("gnocco_gpu_")).length?(k(e,"gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function br({history:e,zone:r}){let o=(a,n,s)=>{let c=[],l=[];for(let m=1;m<
e.length;m++)c.push(e[m].time),l.push(ne(e.slice(0,m+1),n,1));return{label:a,color:s,times:c,values:l,step:xe*2}},i=e.at(-1)?.time??Date.now()/1e3;return t(Q,{lines:[o("accepted","gnocco_incoming_meas\
ures_total",0),o("processed","gnocco_metricd_measures_processed_total",1)],from:i-xe*Nt,to:i,height:180,unit:"",zone:r,title:"Measures a second"})}var vr=["index","incoming","sacks"];function wr({samples:e}){
let r=k(e,"process_resident_memory_bytes")??0,o=k(e,"go_gc_gomemlimit_bytes")??0,i=k(e,"gnocco_memory_used_bytes")??0,a=k(e,"gnocco_memory_budget_bytes")??0,n=vr.map(c=>[c,k(e,"gnocco_store_disk_bytes",
{store:c})??0]),s=Math.max(1,...n.map(([,c])=>c));return t(M,{children:[t(je,{id:"memory",name:"Memory of the process",value:r,of:o<1e18?o:0}),t(je,{id:"budget",name:"Held by requests",value:i,of:a}),
n.map(([c,l])=>t(je,{id:"disk-"+c,name:"Disk: "+c,value:l,share:l/s},c))]})}function je({id:e,name:r,value:o,of:i,share:a}){return t("div",{id:e,"data-value":o,children:[t("div",{class:"aside",children:[
t("span",{children:r}),t("b",{style:{marginLeft:"auto"},children:[v(o,"bytes",3),i?" of "+v(i,"bytes",3):""]})]}),t("div",{class:"meter",children:t("i",{style:{width:100*Math.min(1,a??(i?o/i:0))+"%"}})})]})}
var Ft=e=>e.filter(r=>r.name==="gnocco_sack_backlog_measures").sort((r,o)=>+r.labels.sack-+o.labels.sack);function yr({samples:e}){let r=Ft(e),o=Math.max(1,...r.map(i=>i.value));return t("div",{class:"\
strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${v(Math.max(0,...r.map(i=>i.value)))} at most`,children:r.map(i=>t("i",{"data-sack":i.labels.sack,"data-value":i.value,title:`sack ${i.labels.
sack}: ${v(i.value)} measures wait, ${v(k(e,"gnocco_sack_backlog_age_seconds",{sack:i.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*i.value/o)}%, var(\
--accent-soft))`}},i.labels.sack))})}function xr(e){let r=e.filter(a=>a.startsWith("sacks/")).map(a=>+a.slice(6)).sort((a,n)=>a-n),o=[];for(let a=0;a<r.length;a++){let n=a;for(;r[n+1]===r[n]+1;)n++;o.
push(n>a?`${r[a]}\u2013${r[n]}`:`${r[a]}`),a=n}let i=e.filter(a=>!a.startsWith("sacks/")).map(a=>a.startsWith("incoming/")?"an incoming store":"the "+a);return[...new Set(i),...o.length?[(r.length===1?
"sack ":"sacks ")+o.join(", ")]:[]].join(", ")||"nothing"}var Lt=[{name:"explore",title:"Explore",page:$t},{name:"policies",title:"Policies",page:O(()=>import("./lazy_pages-EUV4ID75.js").then(e=>e.Policies))},{name:"correlations",title:"Correlations",page:O(
()=>import("./lazy_pages-EUV4ID75.js").then(e=>e.Correlations))},{name:"server",title:"Server",page:jt},{name:"metric",page:O(()=>import("./lazy_pages-EUV4ID75.js").then(e=>e.MetricPage))}];function kr(){
let e=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=q(),[o,i]=b([]);S(()=>{let n=setTimeout(()=>i(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(n)},[]);let a=z(()=>[...new Set(
[e,"UTC",r,...o])],[e,r,o]);return t("select",{"aria-label":"Time zone",value:r,onChange:n=>y({tz:n.currentTarget.value===e?null:n.currentTarget.value}),children:a.map(n=>t("option",{value:n,children:n.
replaceAll("_"," ")},n))})}var Oe=null;document.addEventListener("focusin",e=>{Oe=e.target});function _r(){let e=L.use(),r=ce.use(),o=Ae.use(),i=st.use(),a=Lt.find(c=>c.name===e.page),n=a?.page;S(()=>{
document.title=(a?.title??"Metric")+" \xB7 Gnocco"},[a]);let s=T(e.page);return V(()=>{(e.page!==s.current||Oe&&!Oe.isConnected)&&$e(),s.current=e.page},[e]),t(M,{children:[t("a",{class:"skip",href:"#\
main",onClick:c=>{c.preventDefault(),$e()},children:"To the content"}),t("header",{class:"top",children:[t("a",{class:"brand",href:"#/explore",children:[t("img",{src:ut,alt:"",width:"22",height:"22"}),
"Gnocco"]}),t("nav",{"aria-label":"Pages",children:Lt.map(c=>c.title&&t("a",{href:U(c.name),"aria-current":c.name===e.page?"page":void 0,children:c.title},c.name))}),t("div",{class:"settings",children:[
t(kr,{}),t("button",{type:"button",class:"icon","aria-label":i==="dark"?"Light colours":"Dark colours",title:i==="dark"?"Light colours":"Dark colours",onClick:lt,children:i==="dark"?"\u2600":"\u263E"}),
r.credentials!=="none"&&r.user&&t("button",{type:"button",onClick:Ve,title:"Sign in as somebody else",children:r.user})]})]}),t("main",{id:"main",tabIndex:-1,children:[o&&t(pt,{}),!o&&a?.title&&t(Ze,{
hidden:!0,children:a.title},a.name),!o&&(n?t(n,{},e.page+r.user):t(w,{children:["There is no page of this name. ",t("a",{href:U("explore"),children:"Explore"})," is where to begin."]}))]})]})}We(t(_r,
{}),document.getElementById("app"));
