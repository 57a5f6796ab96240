import{a as e,b as v,c as T,d as C,e as Q,f as Me,g as ze,h as P,i as R,j as q,k as y,l as J,m as E,n as $e,o as Ce,p as Pe,q as D,r as Le,s as qe,t as Ae}from"./chunk-GHM4OC2U.js";import{A as ee,
B as Te,C as Ne,D as me,E as je,F as Oe,G as Fe,H as te,I as Z,K as Ee,b as $,c as ve,d as b,e as S,g as V,h as F,j as Y,k as we,m as ye,n as xe,o as ke,p as le,q as Se,r as _e,s as X,t as f,u as L,w as ce,
z as Re}from"./chunk-4SYFU63U.js";function Ue(){let t=Y.use(),[r,n]=b(""),[a,s]=b(""),[o,i]=b(""),[c,l]=b(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await xe(t.credentials,
c?"":r,a)}catch(x){i(x.status===401?"These are not known here.":x.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!o&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),o&&e("p",{class:"notice bad",role:"alert",children:o}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:u=>n(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:a,onInput:u=>s(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>l(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function N(t){let r;return function(){let[,a]=b(0),[s,o]=b(!1);S(()=>{r||t().then(c=>{r=c,a(1)},()=>o(!0))},[]);let i=r;return i?e(i,{}):s?e(v,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var ot=N(()=>import("./more-SYDA2LDJ.js").then(t=>t.Changed)),it=4,st=5e3;function Ie({metrics:t}){let{params:r}=R.use(),[n]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),a=r.get("agg")??"mean",s=r.get("g"),o=t.length<=it,i=o&&a==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(p=>/^[\d.]+pct$/.test(p))))].sort((m,p)=>parseFloat(m)-parseFloat(p)),l={cmp:!0,
pct:o&&c.length>0,raw:o},d=m=>l[m]&&r.get(m)==="1",u=J(r),x=m=>s&&m.items.find(p=>p.granularity===+s)||te(m,u.from,u.to,n),_=Math.min(...t.map(m=>x(m.policy).granularity)),{value:h,error:g,loading:j}=P(
async m=>{let p=J(r),{from:U,to:fe,span:he}=p,tt=[a,...i?["min","max"]:[],...d("pct")?c:[]],be=d("raw")&&t.some(se=>he/se.policy.items[0].granularity>st),[rt,nt,at]=await Promise.all([Z(t,tt,U,fe,x,m),
d("cmp")?Z(t,[a],U-he,U,x,m):[],d("raw")&&!be?Promise.all(t.map(se=>Ee(se.id,U,fe,m))):[]]);return{range:p,columns:rt,before:nt,raw:at,method:a,tooMany:be}},[t,a,s,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],u.live?Math.min(30,Math.max(1,_)):0),M=F(()=>h?dt(h):[],[h]),z=M.map(m=>i&&!m.derived?{...m,low:h.columns[m.color].values.min,high:h.columns[m.color].values.max}:m),k=[...new Set(
t.flatMap(m=>m.policy.methods))].sort((m,p)=>De(m)-De(p)||m.localeCompare(p,"en",{numeric:!0})),B=[...new Set(t.flatMap(m=>m.policy.items.map(p=>p.granularity)))].sort((m,p)=>m-p),oe=X(t[0].name??"",t[0].
unit),I=E(),K=r.get("view")==="table",W=$e(r),G=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,O=h?.range??u,ge=(m,p)=>y({from:String(Math.floor(m)),to:String(Math.ceil(p))}),ie=(m,p,U)=>l[m]&&
e("button",{type:"button","aria-pressed":d(m),title:U,onClick:()=>y({[m]:d(m)?null:"1"}),children:p});return e($,{children:[e(Le,{range:O,children:[e("label",{class:"aside",children:["Show ",e("select",
{"aria-label":"Aggregation method",value:a,onChange:m=>y({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(k.includes(a)?k:[a,...k]).map(m=>e("option",{children:m},m))})]}),e(
"label",{class:"aside",children:["of ",e("select",{"aria-label":"Granularity",value:s??"",onChange:m=>y({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),B.map(m=>e(
"option",{value:String(m),children:L(m)},m))]})]})]}),g&&e(v,{bad:!0,children:g}),e(T,{title:G,id:"drawn",aside:e($,{children:[ie("cmp","Before",`Compare with the ${L(Math.round(O.span))} before`),ie(
"pct","Percentiles",c.join(", ")),ie("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!W,title:"Mark a time, and see which metrics moved most",onClick:()=>y(
{w:W?null:ct(O)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":K,onClick:()=>y({view:K?null:"table"}),children:"Table"}),e(ze,{title:"Copy",children:[e(pt,{metrics:t,columns:h?.
columns,method:a,range:O}),!K&&e("button",{type:"button",onClick:()=>{import("./more-SYDA2LDJ.js").then(({picture:m})=>m("drawn",G,z,`${ce(O.from,I)} \u2013 ${ce(O.to,I)} ${I}`)).then(m=>Me(m,G+
".png"))},children:"PNG"})]})]}),children:[h&&e("p",{class:"hint",id:"archive","data-from":h.range.from,children:ut(h)}),h&&(K?e(Ae,{rows:M,unit:oe,zone:I,name:G}):e(D,{lines:z,from:O.from,to:O.to,height:340,
unit:oe,zone:I,title:G,shades:mt(W),onZoom:(m,p)=>W?y({w:`${Math.floor(m)}-${Math.ceil(p)}`}):ge(m,p),onPan:ge})),!h&&j&&e("p",{class:"hint",children:"Reading \u2026"})]}),W&&e(ot,{}),h&&e(qe,{rows:M,
unit:oe,onRemove:m=>y({m:t.map(p=>p.id).filter(p=>p!==m)}),href:m=>q("metric",{id:m})})]})}var lt=["mean","max","min","sum","count","last","first","median","std"],De=t=>lt.indexOf(t)+1||99,ct=({from:t,
to:r})=>`${Math.floor(r-(r-t)/3)}-${Math.ceil(r)}`,mt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function dt({range:t,columns:r,before:n,raw:a,method:s}){let o=r.map((i,c)=>Be(i,c,s));return r.
forEach((i,c)=>{let{id:l,label:d}=o[c];for(let[u,x]of Object.entries(i.values))u!==s&&/pct$/.test(u)&&o.push({...o[c],id:l+u,label:`${d} ${u}`,values:x,look:"dotted",derived:!0});n[c]&&o.push({...Be(n[c],
c,s),id:l+"before",label:`${d}, ${L(Math.round(t.span))} before`,times:n[c].times.map(u=>u+t.span),look:"dashed",derived:!0}),a[c]?.times.length&&o.push({...o[c],id:l+"raw",label:`${d}, measures`,...a[c],
look:"dots",derived:!0})}),o}function Be(t,r,n){let[a,s]=n in t.values?[n,t.values[n]]:Object.entries(t.values)[0]??[n,[]];return{id:t.metric.id,label:(t.metric.name??t.metric.id)+(a===n?"":` (${a})`),
color:r,times:t.times,values:s,step:t.item.granularity}}function ut({columns:t,method:r,raw:n,tooMany:a}){let s=new Set(t.map(i=>`${r in i.values?r:Object.keys(i.values)[0]??r} of ${L(i.item.granularity)}\
, kept for ${L(i.item.timespan)} (archive policy ${i.metric.policy.name})`)),o=n.length?n.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of thi\
s time":"";return"Drawn from "+[...s].join("; ")+(a?"; zoom in to see raw measures":o)}function pt({metrics:t,columns:r,method:n,range:a}){let s=Math.floor(a.from),o=Math.ceil(a.to),i=t[0],c=r?.[0]?.item.
granularity??i.policy.items[0].granularity,l=`start=${s}&stop=${o}&granularity=${c}&aggregation=${encodeURIComponent(n)}`,d=u=>t.map(u).join(`
`);return e($,{children:[e(Q,{label:"curl",title:"Copy as curl",text:d(u=>`curl -u USER: '${le(`/v1/metric/${u.id}/measures?${l}`)}'`)}),e(Q,{label:"Python",title:"Copy as Python",text:gt(t.map(u=>u.id),
l)}),e(Q,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(u=>`gnocchi measures show ${u.id} --aggregation ${n} --granularity ${c} --start ${s} --stop ${o}`)}),e(Q,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(de).join(" or ")})]})}var gt=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(le("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,de=t=>`{${[me(t.name??""),...t.resource?[`resource_id=${me(t.resource)}`]:[]].join(", ")}}`;var ft=300,ht=6;function Ge(t){let r=t.get("find")??"",n=t.getAll("l").map(h=>h.split(/=(.*)/s).slice(0,2)),a=!r&&!n.length&&!t.has("m")&&!t.has("q"),[s,o]=b(!1),i=[r,n.join(`
`)],c=s?1:15,{value:l,error:d}=P(h=>Fe(je(r,n),ft,h),i,c),{value:u,error:x}=P(h=>Oe(r,n,h),i,c),_=a&&l?.length===0;return S(()=>o(_),[_]),{text:r,labels:n,series:l,counts:u,error:d??x,empty:_}}function Ve({
finder:t,chosen:r}){let{text:n,labels:a,series:s,counts:o,error:i}=t,[c,l]=b(n),d=V(n);S(()=>{n!==d.current&&(d.current=n,l(n))},[n]),S(()=>{if(c===d.current)return;let g=setTimeout(()=>{d.current=c,y(
{find:c||null},!0)},150);return()=>clearTimeout(g)},[c]);let u=new Set(r.map(ee)),x=async g=>{let j=await Te(g),M=r.map(z=>z.id);y({q:null,lang:null,m:M.includes(j.id)?M.filter(z=>z!==j.id):[...M,j.id]})},
_=F(()=>s?.map(g=>e("li",{children:e("button",{type:"button","aria-pressed":u.has(ee(g)),title:bt(g),onClick:()=>{x(g)},children:[e("span",{children:g.name}),e("small",{children:vt(g)})]})},ee(g)+JSON.
stringify(g.labels))),[s,r]),h=o?wt(o,a):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"search",children:[e("input",{type:"search",placeholder:"Find me\
trics","aria-label":"Find metrics by name",value:c,onInput:g=>l(g.currentTarget.value)}),e("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>y({q:r.map(
de).join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:h.map(({name:g,values:j,counts:M})=>{let z=a.find(([k])=>k===g)?.[1]??"";return e("select",{"aria-l\
abel":We(g),"data-label":g,value:z,onChange:k=>y({l:[...a.filter(([B])=>B!==g),...k.currentTarget.value?[[g,k.currentTarget.value]]:[]].map(B=>B.join("="))}),children:[e("option",{value:"",children:We(
g)}),z&&!M.some(k=>k.name===z)&&e("option",{value:z,children:z}),M.map(k=>e("option",{value:k.name,children:[k.name," (",k.value.toLocaleString("en"),")"]},k.name)),j>M.length&&e("option",{disabled:!0,
children:["and ",(j-M.length).toLocaleString("en")," more"]})]},g)})}),i&&e(v,{bad:!0,children:i}),o&&e("p",{class:"hint",id:"found",children:o.total===1?"1 metric":`${o.total.toLocaleString("en")} me\
trics`}),e("ul",{class:"found",children:[_,s&&o&&o.total>s.length&&e("li",{class:"hint",children:["and ",(o.total-s.length).toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}var ue={
resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},We=t=>ue[t]??t,bt=t=>[t.name,t.resource,...Object.entries(t.labels).map(([
r,n])=>`${r}=${n}`)].filter(Boolean).join(`
`),vt=t=>Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??(t.labels.resource_type==="generic"?"":t.labels.resource_type);function wt(t,r){let n=new Set(r.map(([o])=>o)),a=Object.keys(ue).
slice(0,3),s=o=>n.has(o.name)?0:a.indexOf(o.name)+1||(o.name in ue?99:9);return t.facets.filter(o=>n.has(o.name)||o.values>1||o.counts[0].value<t.total).sort((o,i)=>s(o)-s(i)).slice(0,ht)}var yt=12,xt=8,kt=340;function Qe({finder:t}){let{params:r}=R.use(),n=F(()=>St(t.series??[]),[t.series]),a=n.flatMap(([,i])=>i),{value:s,error:o}=P(async i=>{let c=J(r),l=await Ne(a),d=await Z(l,["mea\
n"],c.from,c.to,u=>te(u,c.from,c.to,kt),i);return{range:c,columns:new Map(d.map(u=>[(u.metric.resource??"")+"/"+u.metric.name,u]))}},[n,r.get("from")],1);return t.series?n.length?e($,{children:[o&&e(v,
{bad:!0,children:o}),e("div",{class:"tiles",children:n.map(([i,c])=>s&&e(_t,{name:i,columns:c.flatMap(l=>s.columns.get(l.resource+"/"+l.name)??[]),range:s.range},i+c[0].resource))})]}):e(v,{children:"\
No metric is called like that."}):t.error?null:e(v,{children:"Looking for metrics \u2026"})}function St(t){let r=new Map;for(let n of t){let a=n.resource+"/"+n.name.replace(/\d+/g,"#"),s=r.get(a)??[];
if(s.length<xt&&r.set(a,[...s,n]),r.size>yt){r.delete(a);break}}return[...r.values()].map(n=>[n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name,n])}function _t({name:t,columns:r,range:n}){if(!r.length)
return null;let a=X(t,r[0].metric.unit),s=r.map((i,c)=>({label:i.metric.name??i.metric.id,color:c,times:i.times,values:Object.values(i.values)[0]??[],step:i.item.granularity})),o=s.map(i=>i.values.at(
-1)).filter(i=>i!=null);return e("a",{class:"panel tile",href:q("explore",{m:r.map(i=>i.metric.id)}),"data-name":t,children:[e("header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[
o.slice(0,3).map(i=>f(i,a,3)).join(" \xB7 "),o.length>3&&" \u2026"]})]}),e(D,{lines:s,from:n.from,to:n.to,height:130,unit:a,zone:E(),title:t,small:!0})]})}var Mt=N(()=>import("./more-SYDA2LDJ.js").then(t=>t.First)),zt=N(()=>import("./more-SYDA2LDJ.js").then(t=>t.QueryView));function Je(){let{params:t}=R.use(),r=Ge(t),n=t.getAll("m"),a=n.join(),
[s,o]=b([]),[i,c]=b("");S(()=>{let d=!0;return c(""),Promise.allSettled(n.map(Re)).then(u=>{if(!d)return;o(u.flatMap(_=>_.status==="fulfilled"?[_.value]:[]));let x=u.find(_=>_.status==="rejected");x&&
c(x.reason.message)}),()=>{d=!1}},[a]);let l=F(()=>s.filter(d=>n.includes(d.id)),[s,a]);return r.empty?e(Mt,{}):e("div",{class:"split",children:[e(Ve,{finder:r,chosen:l}),e("div",{children:[i&&e(v,{bad:!0,
children:i}),t.has("q")?e(zt,{}):n.length?l.length>0&&e(Ie,{metrics:l}):e(Qe,{finder:r})]})]})}function Ze(t){let r=[];for(let n of t.split(`
`)){if(!n||n.startsWith("#"))continue;let a=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(n);if(!a)continue;let s={};for(let[,o,i]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))s[o]=i.replace(/\\(.)/g,
(c,l)=>l==="n"?`
`:l);r.push({name:a[1],labels:s,value:Number(a[3])})}return r}function w(t,r,n={}){let a=t.filter(s=>s.name===r&&Object.entries(n).every(([o,i])=>s.labels[o]===i));return a.length?a.reduce((s,o)=>s+o.
value,0):null}var $t={none:"none",up:"GPU",down:"GPU, out of use"},ae=2,He=150;function Ke(){let t=P(l=>_e("/v1/status?details=false",void 0,l),[],ae),r=P(async l=>({time:Date.now()/1e3,samples:Ze(await(await Se("G\
ET","/metrics",void 0,l)).text())}),[],ae),n=V([]),a=V([]),[,s]=b(0);S(()=>{r.value&&(n.current=[...n.current,r.value].slice(-He),s(l=>l+1))},[r.value]),S(()=>{t.value?.cluster&&(a.current=[...a.current,
t.value.cluster.members].slice(-1-Ye),s(l=>l+1))},[t.value]);let o=r.value?.samples,i=t.value?.cluster,c=E();return e($,{children:[r.error&&e(v,{bad:!0,children:r.error}),t.error&&e(v,{children:[t.error,
": who holds what is shown to administrators only."]}),i?.damaged.map(l=>e(v,{bad:!0,children:[l.name," is damaged since ",l.since,": ",l.reason]},l.name)),i&&i.members.length>1&&e(T,{title:"The clust\
er",aside:e("span",{children:[i.members.length," processes",i.silent?.length?", silent: "+i.silent.join(", "):""]}),children:e("dl",{class:"figures",children:[e(C,{id:"all-accepted",name:"Measures acc\
epted",value:A(ne(i.members.map(l=>re(a.current,l.id,"accepted")))),about:f(ne(i.members.map(l=>l.figures?.accepted??null)),"",12)+" in all"}),e(C,{id:"all-processed",name:"Measures processed",value:A(
ne(i.members.map(l=>re(a.current,l.id,"processed")))),about:f(ne(i.members.map(l=>l.figures?.processed??null)),"",12)+" in all"}),e(C,{id:"all-backlog",name:"Backlog",value:f(i.sacks.reduce((l,d)=>l+d.
measures,0)),about:"lag "+f(Math.max(0,...i.sacks.map(l=>l.seconds)),"seconds",3)})]})}),o&&e($,{children:[e(T,{title:"This process",aside:e("span",{children:["version ",o.find(l=>l.name==="gnocco_bui\
ld_info")?.labels.version,", up ",L(Math.round(Date.now()/1e3-(w(o,"process_start_time_seconds")??0)))]}),children:e("dl",{class:"figures",children:[e(C,{id:"accepted",name:"Measures accepted",value:A(
H(n.current,"gnocco_incoming_measures_total")),about:f(w(o,"gnocco_incoming_measures_total"),"",12)+" in all"}),e(C,{id:"processed",name:"Measures processed",value:A(H(n.current,"gnocco_metricd_measur\
es_processed_total"))}),e(C,{id:"backlog",name:"Backlog",value:f(w(o,"gnocco_incoming_backlog_measures")),about:"lag "+f(Math.max(0,w(o,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e(C,{id:"\
metrics",name:"Metrics",value:f(w(o,"gnocco_index_metrics"),"",12)}),e(C,{id:"requests",name:"Requests",value:A(H(n.current,"gnocco_http_requests_total")),about:f(w(o,"gnocco_http_connections"))+" con\
nections"}),e(C,{id:"cpu",name:"Processor",value:Ct(H(n.current,"process_cpu_seconds_total")),about:"of one core"}),e(C,{id:"dropped",name:"Measures too old",value:f(w(o,"gnocco_metricd_measures_dropp\
ed_total",{reason:"too_old"}),"",12),about:"since the start"}),e(C,{id:"device",name:"Device",value:Pt(o)})]})}),e("div",{class:"two",children:[e(T,{title:"Measures a second",children:e(Rt,{history:n.
current,zone:c})}),e(T,{title:"Memory and disk",children:e(Nt,{samples:o})})]}),e(T,{title:"Backlog by sack",aside:e("span",{children:[Xe(o).length," sacks held here; a full cell is the longest backlo\
g"]}),children:e(jt,{samples:o})})]}),i&&e(T,{title:"Members",aside:i.silent?.length?e("span",{children:["silent: ",i.silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"\
members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"\
number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Ve\
rsion"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:i.members.map(l=>e("tr",{"data-member":l.id,children:[e("td",{class:"mono",children:l.id}),e("td",{class:"mono",children:l.address}),
e("td",{children:l.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:A(re(a.current,l.id,"accepted"))}),e("td",{class:"number","data-figure":"processed",children:A(re(a.current,
l.id,"processed"))}),e("td",{"data-figure":"memory",children:l.figures?f(l.figures.memory,"bytes",3)+" of "+f(l.figures.memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:l.figures?
$t[l.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:l.figures?.version??"\u2013"}),e("td",{children:Ot(i.claims.filter(d=>d.member===l.id).map(d=>d.name))})]},l.id))})]})})})]})}var Ye=5;
function re(t,r,n){let a=t.map(i=>i.find(c=>c.id===r)?.figures).filter(i=>i!==void 0),s=a[0],o=a.at(-1);return s&&o&&o.uptime>s.uptime?(o[n]-s[n])/(o.uptime-s.uptime):null}function ne(t){let r=t.filter(
n=>n!==null);return r.length?r.reduce((n,a)=>n+a,0):null}function H(t,r,n=Ye){let a=t.at(-1),s=t.at(-1-n)??t[0];if(!a||a===s)return null;let o=w(s.samples,r),i=w(a.samples,r);return o===null||i===null||
i<o?null:(i-o)/(a.time-s.time)}var A=t=>t===null?"\u2013":f(t,"",3)+" /s",Ct=t=>t===null?"\u2013":f(100*t,"percent",3);function Pt(t){return t.filter(n=>n.name.startsWith("gnocco_gpu_")).length?(w(t,"\
gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function Rt({history:t,zone:r}){let n=(s,o,i)=>{let c=[],l=[];for(let d=1;d<t.length;d++)c.push(t[d].time),l.push(H(t.slice(0,d+1),o,1));return{label:s,
color:i,times:c,values:l,step:ae*2}},a=t.at(-1)?.time??Date.now()/1e3;return e(D,{lines:[n("accepted","gnocco_incoming_measures_total",0),n("processed","gnocco_metricd_measures_processed_total",1)],from:a-
ae*He,to:a,height:180,unit:"",zone:r,title:"Measures a second"})}var Tt=["index","incoming","sacks"];function Nt({samples:t}){let r=w(t,"process_resident_memory_bytes")??0,n=w(t,"go_gc_gomemlimit_byte\
s")??0,a=w(t,"gnocco_memory_used_bytes")??0,s=w(t,"gnocco_memory_budget_bytes")??0,o=Tt.map(c=>[c,w(t,"gnocco_store_disk_bytes",{store:c})??0]),i=Math.max(1,...o.map(([,c])=>c));return e($,{children:[
e(pe,{id:"memory",name:"Memory of the process",value:r,of:n<1e18?n:0}),e(pe,{id:"budget",name:"Held by requests",value:a,of:s}),o.map(([c,l])=>e(pe,{id:"disk-"+c,name:"Disk: "+c,value:l,share:l/i},c))]})}
function pe({id:t,name:r,value:n,of:a,share:s}){return e("div",{id:t,"data-value":n,children:[e("div",{class:"aside",children:[e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[f(n,"by\
tes",3),a?" of "+f(a,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,s??(a?n/a:0))+"%"}})})]})}var Xe=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort(
(r,n)=>+r.labels.sack-+n.labels.sack);function jt({samples:t}){let r=Xe(t),n=Math.max(1,...r.map(a=>a.value));return e("div",{class:"strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${f(Math.
max(0,...r.map(a=>a.value)))} at most`,children:r.map(a=>e("i",{"data-sack":a.labels.sack,"data-value":a.value,title:`sack ${a.labels.sack}: ${f(a.value)} measures wait, ${f(w(t,"gnocco_sack_backlog_a\
ge_seconds",{sack:a.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*a.value/n)}%, var(--accent-soft))`}},a.labels.sack))})}function Ot(t){let r=t.filter(
s=>s.startsWith("sacks/")).map(s=>+s.slice(6)).sort((s,o)=>s-o),n=[];for(let s=0;s<r.length;s++){let o=s;for(;r[o+1]===r[o]+1;)o++;n.push(o>s?`${r[s]}\u2013${r[o]}`:`${r[s]}`),s=o}let a=t.filter(s=>!s.
startsWith("sacks/")).map(s=>s.startsWith("incoming/")?"an incoming store":"the "+s);return[...new Set(a),...n.length?[(r.length===1?"sack ":"sacks ")+n.join(", ")]:[]].join(", ")||"nothing"}var et=[{name:"explore",title:"Explore",page:Je},{name:"policies",title:"Policies",page:N(()=>import("./more-SYDA2LDJ.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:N(
()=>import("./more-SYDA2LDJ.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:Ke},{name:"metric",page:N(()=>import("./more-SYDA2LDJ.js").then(t=>t.MetricPage))}],Ft=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function Et(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=E(),n=[...new Set([t,r,...Ft])];return e("select",{"aria-label":"Time zone",value:r,onChange:a=>y({tz:a.currentTarget.value===t?null:a.currentTarget.value}),children:n.map(a=>e("option",{value:a,
children:a.replaceAll("_"," ")},a))})}function Lt(){let t=R.use(),r=Y.use(),n=we.use(),a=Ce.use(),[s,o]=b("");S(()=>{qt.then(o)},[]);let i=et.find(l=>l.name===t.page),c=i?.page;return S(()=>{document.
title=(i?.title??"Metric")+" \xB7 Gnocco"},[i]),e($,{children:[e("a",{class:"skip",href:"#main",onClick:l=>{l.preventDefault(),document.getElementById("main")?.focus()},children:"To the content"}),e("\
header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("img",{src:"icon.svg",alt:"",width:"22",height:"22"}),"Gnocco"]}),e("nav",{"aria-label":"Pages",children:et.map(l=>l.title&&
e("a",{href:q(l.name),"aria-current":l.name===t.page?"page":void 0,children:l.title},l.name))}),e("div",{class:"settings",children:[e(Et,{}),e("button",{type:"button",class:"icon","aria-label":a==="da\
rk"?"Light colours":"Dark colours",title:a==="dark"?"Light colours":"Dark colours",onClick:Pe,children:a==="dark"?"\u2600":"\u263E"}),r&&r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:ke,
title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,children:[s&&e(v,{bad:!0,children:s}),n&&e(Ue,{}),r&&!n&&(c?e(c,{},t.page+r.user):e(v,{children:["There is no p\
age of this name. ",e("a",{href:q("explore"),children:"Explore"})," is where to begin."]}))]})]})}var qt=ye().then(()=>"",()=>"The server does not answer. Load the page again when it does.");R.get().page!==
"explore"&&R.get().page!=="server"&&import("./more-SYDA2LDJ.js").catch(()=>{});ve(e(Lt,{}),document.getElementById("app"));
