import{a as e,b as v,c as $,d as M,e as G,f as _e,g as Me,h as T,i as j,j as F,k as y,l as Q,m as N,n as ze,o as Ce,p as $e,q as U,r as Oe,s as Fe,t as Ee}from"./chunk-L7ICERTH.js";import{A as Y,
B as Pe,C as Re,D as ce,F as je,G as X,H as V,J as Ne,b as _,c as be,d as h,e as k,g as W,h as A,j as H,k as ve,m as we,n as ye,o as xe,p as se,q as ke,r as Se,s as K,t as f,u as O,w as le,z as Te}from"./chunk-MRY35SJC.js";function Le(){let t=H.use(),[r,n]=h(""),[o,a]=h(""),[s,i]=h(""),[c,l]=h(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async p=>{p.preventDefault();try{await ye(t.credentials,
c?"":r,o)}catch(S){i(S.status===401?"These are not known here.":S.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!s&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),s&&e("p",{class:"notice bad",role:"alert",children:s}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:p=>n(p.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:o,onInput:p=>a(p.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>l(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function P(t){let r;return function(){let[,o]=h(0),[a,s]=h(!1);k(()=>{r||t().then(c=>{r=c,o(1)},()=>s(!0))},[]);let i=r;return i?e(i,{}):a?e(v,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var nt=P(()=>import("./more-MHEHM7KP.js").then(t=>t.Changed)),ot=4,at=5e3;function Ue({metrics:t}){let{params:r}=j.use(),[n]=h(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),o=r.get("agg")??"mean",a=r.get("g"),s=t.length<=ot,i=s&&o==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(g=>/^[\d.]+pct$/.test(g))))].sort((m,g)=>parseFloat(m)-parseFloat(g)),l={cmp:!0,
pct:s&&c.length>0,raw:s},d=m=>l[m]&&r.get(m)==="1",p=Q(r),S=m=>a&&m.items.find(g=>g.granularity===+a)||X(m,p.from,p.to,n),u=Math.min(...t.map(m=>S(m.policy).granularity)),{value:b,error:z,loading:C}=T(
async m=>{let g=Q(r),{from:q,to:ge,span:fe}=g,Xe=[o,...i?["min","max"]:[],...d("pct")?c:[]],he=d("raw")&&t.some(ie=>fe/ie.policy.items[0].granularity>at),[et,tt,rt]=await Promise.all([V(t,Xe,q,ge,S,m),
d("cmp")?V(t,[o],q-fe,q,S,m):[],d("raw")&&!he?Promise.all(t.map(ie=>Ne(ie.id,q,ge,m))):[]]);return{range:g,columns:et,before:tt,raw:rt,method:o,tooMany:he}},[t,o,a,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],p.live?Math.min(30,Math.max(1,u)):0),x=A(()=>b?ct(b):[],[b]),L=x.map(m=>i&&!m.derived?{...m,low:b.columns[m.color].values.min,high:b.columns[m.color].values.max}:m),ne=[...new Set(
t.flatMap(m=>m.policy.methods))].sort((m,g)=>qe(m)-qe(g)||m.localeCompare(g,"en",{numeric:!0})),Ye=[...new Set(t.flatMap(m=>m.policy.items.map(g=>g.granularity)))].sort((m,g)=>m-g),oe=K(t[0].name??"",
t[0].unit),D=N(),Z=r.get("view")==="table",B=ze(r),I=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,R=b?.range??p,ue=(m,g)=>y({from:String(Math.floor(m)),to:String(Math.ceil(g))}),ae=(m,g,q)=>l[m]&&
e("button",{type:"button","aria-pressed":d(m),title:q,onClick:()=>y({[m]:d(m)?null:"1"}),children:g});return e(_,{children:[e(Oe,{range:R,children:[e("label",{class:"aside",children:["Show ",e("select",
{"aria-label":"Aggregation method",value:o,onChange:m=>y({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(ne.includes(o)?ne:[o,...ne]).map(m=>e("option",{children:m},m))})]}),
e("label",{class:"aside",children:["of ",e("select",{"aria-label":"Granularity",value:a??"",onChange:m=>y({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),Ye.map(
m=>e("option",{value:String(m),children:O(m)},m))]})]})]}),z&&e(v,{bad:!0,children:z}),e($,{title:I,id:"drawn",aside:e(_,{children:[ae("cmp","Before",`Compare with the ${O(Math.round(R.span))} before`),
ae("pct","Percentiles",c.join(", ")),ae("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!B,title:"Mark a time, and see which metrics moved most",onClick:()=>y(
{w:B?null:st(R)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":Z,onClick:()=>y({view:Z?null:"table"}),children:"Table"}),e(Me,{title:"Copy",children:[e(dt,{metrics:t,columns:b?.
columns,method:o,range:R}),!Z&&e("button",{type:"button",onClick:()=>{import("./more-MHEHM7KP.js").then(({picture:m})=>m("drawn",I,L,`${le(R.from,D)} \u2013 ${le(R.to,D)} ${D}`)).then(m=>_e(m,I+
".png"))},children:"PNG"})]})]}),children:[b&&e("p",{class:"hint",id:"archive",children:mt(b)}),b&&(Z?e(Ee,{rows:x,unit:oe,zone:D,name:I}):e(U,{lines:L,from:R.from,to:R.to,height:340,unit:oe,zone:D,title:I,
shades:lt(B),onZoom:(m,g)=>B?y({w:`${Math.floor(m)}-${Math.ceil(g)}`}):ue(m,g),onPan:ue})),!b&&C&&e("p",{class:"hint",children:"Reading \u2026"})]}),B&&e(nt,{}),b&&e(Fe,{rows:x,unit:oe,onRemove:m=>y({
m:t.map(g=>g.id).filter(g=>g!==m)}),href:m=>F("metric",{id:m})})]})}var it=["mean","max","min","sum","count","last","first","median","std"],qe=t=>it.indexOf(t)+1||99,st=({from:t,to:r})=>`${Math.floor(
r-(r-t)/3)}-${Math.ceil(r)}`,lt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function ct({range:t,columns:r,before:n,raw:o,method:a}){let s=r.map((i,c)=>Ae(i,c,a));return r.forEach((i,c)=>{let{
id:l,label:d}=s[c];for(let[p,S]of Object.entries(i.values))p!==a&&/pct$/.test(p)&&s.push({...s[c],id:l+p,label:`${d} ${p}`,values:S,look:"dotted",derived:!0});n[c]&&s.push({...Ae(n[c],c,a),id:l+"befor\
e",label:`${d}, ${O(Math.round(t.span))} before`,times:n[c].times.map(p=>p+t.span),look:"dashed",derived:!0}),o[c]?.times.length&&s.push({...s[c],id:l+"raw",label:`${d}, measures`,...o[c],look:"dots",
derived:!0})}),s}function Ae(t,r,n){let[o,a]=n in t.values?[n,t.values[n]]:Object.entries(t.values)[0]??[n,[]];return{id:t.metric.id,label:(t.metric.name??t.metric.id)+(o===n?"":` (${o})`),color:r,times:t.
times,values:a,step:t.item.granularity}}function mt({columns:t,method:r,raw:n,tooMany:o}){let a=new Set(t.map(i=>`${r in i.values?r:Object.keys(i.values)[0]??r} of ${O(i.item.granularity)}, kept for ${O(
i.item.timespan)} (archive policy ${i.metric.policy.name})`)),s=n.length?n.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"\
Drawn from "+[...a].join("; ")+(o?"; zoom in to see raw measures":s)}function dt({metrics:t,columns:r,method:n,range:o}){let a=Math.floor(o.from),s=Math.ceil(o.to),i=t[0],c=r?.[0]?.item.granularity??i.
policy.items[0].granularity,l=`start=${a}&stop=${s}&granularity=${c}&aggregation=${encodeURIComponent(n)}`,d=p=>t.map(p).join(`
`);return e(_,{children:[e(G,{label:"curl",title:"Copy as curl",text:d(p=>`curl -u USER: '${se(`/v1/metric/${p.id}/measures?${l}`)}'`)}),e(G,{label:"Python",title:"Copy as Python",text:pt(t.map(p=>p.id),
l)}),e(G,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(p=>`gnocchi measures show ${p.id} --aggregation ${n} --granularity ${c} --start ${a} --stop ${s}`)}),e(G,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(me).join(" or ")})]})}var pt=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(se("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,me=t=>`{${[ce(t.name??""),...t.resource?[`resource_id=${ce(t.resource)}`]:[]].join(", ")}}`;var ut=300,gt=6;function Be(t){let r=t.get("find")??"",n=t.getAll("l").map(d=>d.split(/=(.*)/s).slice(0,2)),o=!r&&!n.length&&!t.has("m")&&!t.has("q"),[a,s]=h(!1),{value:i,error:c}=T(d=>je(r,n,ut,d),[r,
n.join(`
`)],a?1:15),l=o&&!!i&&i.total===0;return k(()=>s(l),[l]),{text:r,labels:n,found:i,error:c,empty:l}}function Ie({finder:t,chosen:r}){let{text:n,labels:o,found:a,error:s}=t,[i,c]=h(n),l=W(n);k(()=>{n!==
l.current&&(l.current=n,c(n))},[n]),k(()=>{if(i===l.current)return;let u=setTimeout(()=>{l.current=i,y({find:i||null},!0)},150);return()=>clearTimeout(u)},[i]);let d=new Set(r.map(Y)),p=async u=>{let b=await Pe(
u),z=r.map(C=>C.id);y({q:null,lang:null,m:z.includes(b.id)?z.filter(C=>C!==b.id):[...z,b.id]})},S=a?bt(a,o):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"\
search",children:[e("input",{type:"search",placeholder:"Find metrics","aria-label":"Find metrics by name",value:i,onInput:u=>c(u.currentTarget.value)}),e("button",{type:"button",title:"Draw an express\
ion, in PromQL or as dynamic aggregates",onClick:()=>y({q:r.map(me).join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:S.map(({name:u,values:b,counts:z})=>{
let C=o.find(([x])=>x===u)?.[1]??"";return e("select",{"aria-label":De(u),"data-label":u,value:C,onChange:x=>y({l:[...o.filter(([L])=>L!==u),...x.currentTarget.value?[[u,x.currentTarget.value]]:[]].map(
L=>L.join("="))}),children:[e("option",{value:"",children:De(u)}),C&&!z.some(x=>x.name===C)&&e("option",{value:C,children:C}),z.map(x=>e("option",{value:x.name,children:[x.name," (",x.value.toLocaleString(
"en"),")"]},x.name)),b>z.length&&e("option",{disabled:!0,children:["and ",(b-z.length).toLocaleString("en")," more"]})]},u)})}),s&&e(v,{bad:!0,children:s}),a&&e("p",{class:"hint",id:"found",children:a.
total===1?"1 metric":`${a.total.toLocaleString("en")} metrics`}),e("ul",{class:"found",children:[a?.series.map(u=>e("li",{children:e("button",{type:"button","aria-pressed":d.has(Y(u)),title:ft(u),onClick:()=>{
p(u)},children:[e("span",{children:u.name}),e("small",{children:ht(u)})]})},Y(u)+JSON.stringify(u.labels))),a&&a.total>a.series.length&&e("li",{class:"hint",children:["and ",(a.total-a.series.length).
toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}var de={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"U\
ser"},De=t=>de[t]??t,ft=t=>[t.name,t.resource,...Object.entries(t.labels).map(([r,n])=>`${r}=${n}`)].filter(Boolean).join(`
`),ht=t=>Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??(t.labels.resource_type==="generic"?"":t.labels.resource_type);function bt(t,r){let n=new Set(r.map(([s])=>s)),o=Object.keys(de).
slice(0,3),a=s=>n.has(s.name)?0:o.indexOf(s.name)+1||(s.name in de?99:9);return t.facets.filter(s=>n.has(s.name)||s.values>1||s.counts[0].value<t.total).sort((s,i)=>a(s)-a(i)).slice(0,gt)}var vt=12,wt=8,yt=340;function We({finder:t}){let{params:r}=j.use(),n=A(()=>xt(t.found?.series??[]),[t.found]),o=n.flatMap(([,i])=>i),{value:a,error:s}=T(async i=>{let c=Q(r),l=await Re(o),d=await V(l,
["mean"],c.from,c.to,p=>X(p,c.from,c.to,yt),i);return{range:c,columns:new Map(d.map(p=>[(p.metric.resource??"")+"/"+p.metric.name,p]))}},[n,r.get("from")],1);return t.found?n.length?e(_,{children:[s&&
e(v,{bad:!0,children:s}),e("div",{class:"tiles",children:n.map(([i,c])=>a&&e(kt,{name:i,columns:c.flatMap(l=>a.columns.get(l.resource+"/"+l.name)??[]),range:a.range},i+c[0].resource))})]}):e(v,{children:"\
No metric is called like that."}):t.error?null:e(v,{children:"Looking for metrics \u2026"})}function xt(t){let r=new Map;for(let n of t){let o=n.resource+"/"+n.name.replace(/\d+/g,"#"),a=r.get(o)??[];
if(a.length<wt&&r.set(o,[...a,n]),r.size>vt){r.delete(o);break}}return[...r.values()].map(n=>[n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name,n])}function kt({name:t,columns:r,range:n}){if(!r.length)
return null;let o=K(t,r[0].metric.unit),a=r.map((i,c)=>({label:i.metric.name??i.metric.id,color:c,times:i.times,values:Object.values(i.values)[0]??[],step:i.item.granularity})),s=a.map(i=>i.values.at(
-1)).filter(i=>i!=null);return e("a",{class:"panel tile",href:F("explore",{m:r.map(i=>i.metric.id)}),"data-name":t,children:[e("header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[
s.slice(0,3).map(i=>f(i,o,3)).join(" \xB7 "),s.length>3&&" \u2026"]})]}),e(U,{lines:a,from:n.from,to:n.to,height:130,unit:o,zone:N(),title:t,small:!0})]})}var St=P(()=>import("./more-MHEHM7KP.js").then(t=>t.First)),_t=P(()=>import("./more-MHEHM7KP.js").then(t=>t.QueryView));function Ge(){let{params:t}=j.use(),r=Be(t),n=t.getAll("m"),o=n.join(),
[a,s]=h([]),[i,c]=h("");k(()=>{let d=!0;return c(""),Promise.allSettled(n.map(Te)).then(p=>{if(!d)return;s(p.flatMap(u=>u.status==="fulfilled"?[u.value]:[]));let S=p.find(u=>u.status==="rejected");S&&
c(S.reason.message)}),()=>{d=!1}},[o]);let l=A(()=>a.filter(d=>n.includes(d.id)),[a,o]);return r.empty?e(St,{}):e("div",{class:"split",children:[e(Ie,{finder:r,chosen:l}),e("div",{children:[i&&e(v,{bad:!0,
children:i}),t.has("q")?e(_t,{}):n.length?l.length>0&&e(Ue,{metrics:l}):e(We,{finder:r})]})]})}function Qe(t){let r=[];for(let n of t.split(`
`)){if(!n||n.startsWith("#"))continue;let o=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(n);if(!o)continue;let a={};for(let[,s,i]of(o[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))a[s]=i.replace(/\\(.)/g,
(c,l)=>l==="n"?`
`:l);r.push({name:o[1],labels:a,value:Number(o[3])})}return r}function w(t,r,n={}){let o=t.filter(a=>a.name===r&&Object.entries(n).every(([s,i])=>a.labels[s]===i));return o.length?o.reduce((a,s)=>a+s.
value,0):null}var Mt={none:"none",up:"GPU",down:"GPU, out of use"},re=2,Ve=150;function Je(){let t=T(l=>Se("/v1/status?details=false",void 0,l),[],re),r=T(async l=>({time:Date.now()/1e3,samples:Qe(await(await ke("G\
ET","/metrics",void 0,l)).text())}),[],re),n=W([]),o=W([]),[,a]=h(0);k(()=>{r.value&&(n.current=[...n.current,r.value].slice(-Ve),a(l=>l+1))},[r.value]),k(()=>{t.value?.cluster&&(o.current=[...o.current,
t.value.cluster.members].slice(-1-Ze),a(l=>l+1))},[t.value]);let s=r.value?.samples,i=t.value?.cluster,c=N();return e(_,{children:[r.error&&e(v,{bad:!0,children:r.error}),t.error&&e(v,{children:[t.error,
": who holds what is shown to administrators only."]}),i?.damaged.map(l=>e(v,{bad:!0,children:[l.name," is damaged since ",l.since,": ",l.reason]},l.name)),i&&i.members.length>1&&e($,{title:"The clust\
er",aside:e("span",{children:[i.members.length," processes",i.silent?.length?", silent: "+i.silent.join(", "):""]}),children:e("dl",{class:"figures",children:[e(M,{id:"all-accepted",name:"Measures acc\
epted",value:E(te(i.members.map(l=>ee(o.current,l.id,"accepted")))),about:f(te(i.members.map(l=>l.figures?.accepted??null)),"",12)+" in all"}),e(M,{id:"all-processed",name:"Measures processed",value:E(
te(i.members.map(l=>ee(o.current,l.id,"processed")))),about:f(te(i.members.map(l=>l.figures?.processed??null)),"",12)+" in all"}),e(M,{id:"all-backlog",name:"Backlog",value:f(i.sacks.reduce((l,d)=>l+d.
measures,0)),about:"lag "+f(Math.max(0,...i.sacks.map(l=>l.seconds)),"seconds",3)})]})}),s&&e(_,{children:[e($,{title:"This process",aside:e("span",{children:["version ",s.find(l=>l.name==="gnocco_bui\
ld_info")?.labels.version,", up ",O(Math.round(Date.now()/1e3-(w(s,"process_start_time_seconds")??0)))]}),children:e("dl",{class:"figures",children:[e(M,{id:"accepted",name:"Measures accepted",value:E(
J(n.current,"gnocco_incoming_measures_total")),about:f(w(s,"gnocco_incoming_measures_total"),"",12)+" in all"}),e(M,{id:"processed",name:"Measures processed",value:E(J(n.current,"gnocco_metricd_measur\
es_processed_total"))}),e(M,{id:"backlog",name:"Backlog",value:f(w(s,"gnocco_incoming_backlog_measures")),about:"lag "+f(Math.max(0,w(s,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e(M,{id:"\
metrics",name:"Metrics",value:f(w(s,"gnocco_index_metrics"),"",12)}),e(M,{id:"requests",name:"Requests",value:E(J(n.current,"gnocco_http_requests_total")),about:f(w(s,"gnocco_http_connections"))+" con\
nections"}),e(M,{id:"cpu",name:"Processor",value:zt(J(n.current,"process_cpu_seconds_total")),about:"of one core"}),e(M,{id:"dropped",name:"Measures too old",value:f(w(s,"gnocco_metricd_measures_dropp\
ed_total",{reason:"too_old"}),"",12),about:"since the start"}),e(M,{id:"device",name:"Device",value:Ct(s)})]})}),e("div",{class:"two",children:[e($,{title:"Measures a second",children:e($t,{history:n.
current,zone:c})}),e($,{title:"Memory and disk",children:e(Pt,{samples:s})})]}),e($,{title:"Backlog by sack",aside:e("span",{children:[He(s).length," sacks held here; a full cell is the longest backlo\
g"]}),children:e(Rt,{samples:s})})]}),i&&e($,{title:"Members",aside:i.silent?.length?e("span",{children:["silent: ",i.silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"\
members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"\
number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Ve\
rsion"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:i.members.map(l=>e("tr",{"data-member":l.id,children:[e("td",{class:"mono",children:l.id}),e("td",{class:"mono",children:l.address}),
e("td",{children:l.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:E(ee(o.current,l.id,"accepted"))}),e("td",{class:"number","data-figure":"processed",children:E(ee(o.current,
l.id,"processed"))}),e("td",{"data-figure":"memory",children:l.figures?f(l.figures.memory,"bytes",3)+" of "+f(l.figures.memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:l.figures?
Mt[l.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:l.figures?.version??"\u2013"}),e("td",{children:jt(i.claims.filter(d=>d.member===l.id).map(d=>d.name))})]},l.id))})]})})})]})}var Ze=5;
function ee(t,r,n){let o=t.map(i=>i.find(c=>c.id===r)?.figures).filter(i=>i!==void 0),a=o[0],s=o.at(-1);return a&&s&&s.uptime>a.uptime?(s[n]-a[n])/(s.uptime-a.uptime):null}function te(t){let r=t.filter(
n=>n!==null);return r.length?r.reduce((n,o)=>n+o,0):null}function J(t,r,n=Ze){let o=t.at(-1),a=t.at(-1-n)??t[0];if(!o||o===a)return null;let s=w(a.samples,r),i=w(o.samples,r);return s===null||i===null||
i<s?null:(i-s)/(o.time-a.time)}var E=t=>t===null?"\u2013":f(t,"",3)+" /s",zt=t=>t===null?"\u2013":f(100*t,"percent",3);function Ct(t){return t.filter(n=>n.name.startsWith("gnocco_gpu_")).length?(w(t,"\
gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function $t({history:t,zone:r}){let n=(a,s,i)=>{let c=[],l=[];for(let d=1;d<t.length;d++)c.push(t[d].time),l.push(J(t.slice(0,d+1),s,1));return{label:a,
color:i,times:c,values:l,step:re*2}},o=t.at(-1)?.time??Date.now()/1e3;return e(U,{lines:[n("accepted","gnocco_incoming_measures_total",0),n("processed","gnocco_metricd_measures_processed_total",1)],from:o-
re*Ve,to:o,height:180,unit:"",zone:r,title:"Measures a second"})}var Tt=["index","incoming","sacks"];function Pt({samples:t}){let r=w(t,"process_resident_memory_bytes")??0,n=w(t,"go_gc_gomemlimit_byte\
s")??0,o=w(t,"gnocco_memory_used_bytes")??0,a=w(t,"gnocco_memory_budget_bytes")??0,s=Tt.map(c=>[c,w(t,"gnocco_store_disk_bytes",{store:c})??0]),i=Math.max(1,...s.map(([,c])=>c));return e(_,{children:[
e(pe,{id:"memory",name:"Memory of the process",value:r,of:n<1e18?n:0}),e(pe,{id:"budget",name:"Held by requests",value:o,of:a}),s.map(([c,l])=>e(pe,{id:"disk-"+c,name:"Disk: "+c,value:l,share:l/i},c))]})}
function pe({id:t,name:r,value:n,of:o,share:a}){return e("div",{id:t,"data-value":n,children:[e("div",{class:"aside",children:[e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[f(n,"by\
tes",3),o?" of "+f(o,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,a??(o?n/o:0))+"%"}})})]})}var He=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort(
(r,n)=>+r.labels.sack-+n.labels.sack);function Rt({samples:t}){let r=He(t),n=Math.max(1,...r.map(o=>o.value));return e("div",{class:"strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${f(Math.
max(0,...r.map(o=>o.value)))} at most`,children:r.map(o=>e("i",{"data-sack":o.labels.sack,"data-value":o.value,title:`sack ${o.labels.sack}: ${f(o.value)} measures wait, ${f(w(t,"gnocco_sack_backlog_a\
ge_seconds",{sack:o.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*o.value/n)}%, var(--accent-soft))`}},o.labels.sack))})}function jt(t){let r=t.filter(
a=>a.startsWith("sacks/")).map(a=>+a.slice(6)).sort((a,s)=>a-s),n=[];for(let a=0;a<r.length;a++){let s=a;for(;r[s+1]===r[s]+1;)s++;n.push(s>a?`${r[a]}\u2013${r[s]}`:`${r[a]}`),a=s}let o=t.filter(a=>!a.
startsWith("sacks/")).map(a=>a.startsWith("incoming/")?"an incoming store":"the "+a);return[...new Set(o),...n.length?[(r.length===1?"sack ":"sacks ")+n.join(", ")]:[]].join(", ")||"nothing"}var Ke=[{name:"explore",title:"Explore",page:Ge},{name:"policies",title:"Policies",page:P(()=>import("./more-MHEHM7KP.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:P(
()=>import("./more-MHEHM7KP.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:Je},{name:"metric",page:P(()=>import("./more-MHEHM7KP.js").then(t=>t.MetricPage))}],Nt=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function Ot(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=N(),n=[...new Set([t,r,...Nt])];return e("select",{"aria-label":"Time zone",value:r,onChange:o=>y({tz:o.currentTarget.value===t?null:o.currentTarget.value}),children:n.map(o=>e("option",{value:o,
children:o.replaceAll("_"," ")},o))})}function Ft(){let t=j.use(),r=H.use(),n=ve.use(),o=Ce.use(),[a,s]=h("");k(()=>{we().catch(()=>s("The server does not answer. Load the page again when it does."))},
[]);let i=Ke.find(l=>l.name===t.page),c=i?.page;return k(()=>{document.title=(i?.title??"Metric")+" \xB7 Gnocco"},[i]),e(_,{children:[e("a",{class:"skip",href:"#main",onClick:l=>{l.preventDefault(),document.
getElementById("main")?.focus()},children:"To the content"}),e("header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("img",{src:"icon.svg",alt:"",width:"22",height:"22"}),"\
Gnocco"]}),e("nav",{"aria-label":"Pages",children:Ke.map(l=>l.title&&e("a",{href:F(l.name),"aria-current":l.name===t.page?"page":void 0,children:l.title},l.name))}),e("div",{class:"settings",children:[
e(Ot,{}),e("button",{type:"button",class:"icon","aria-label":o==="dark"?"Light colours":"Dark colours",title:o==="dark"?"Light colours":"Dark colours",onClick:$e,children:o==="dark"?"\u2600":"\u263E"}),
r&&r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:xe,title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,children:[a&&e(v,{bad:!0,children:a}),n&&
e(Le,{}),r&&!n&&(c?e(c,{},t.page+r.user):e(v,{children:["There is no page of this name. ",e("a",{href:F("explore"),children:"Explore"})," is where to begin."]}))]})]})}be(e(Ft,{}),document.getElementById(
"app"));
