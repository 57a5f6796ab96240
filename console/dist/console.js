import{a as e,b as v,c as ce,d as $e,e as T,f as $,g as H,h as Pe,i as Re,j as P,k as R,l as A,m as y,n as Q,o as F,p as Te,q as Ne,r as je,s as B,t as De,u as Be,v as Ie}from"./chunk-EYP5TUSW.js";
import{A as ee,B as Ee,C as Fe,D as de,E as Le,F as qe,G as Ae,H as te,I as J,K as Ue,b as C,c as ye,d as b,e as S,f as xe,g as q,h as E,j as Y,k as ke,m as Se,n as _e,o as Me,p as le,q as ze,r as Ce,
s as X,t as f,u as L,w as me,z as Oe}from"./chunk-4SYFU63U.js";function We(){let t=Y.use(),[r,n]=b(""),[a,s]=b(""),[o,i]=b(""),[c,l]=b(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await _e(t.credentials,
c?"":r,a)}catch(x){i(x.status===401?"These are not known here.":x.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!o&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),o&&e("p",{class:"notice bad",role:"alert",children:o}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:u=>n(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:a,onInput:u=>s(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>l(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function N(t){let r;return function(){let[,a]=b(0),[s,o]=b(!1);S(()=>{r||t().then(c=>{r=c,a(1)},()=>o(!0))},[]);let i=r;return i?e(i,{}):s?e(v,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var ct=N(()=>import("./more-DD5LFH4W.js").then(t=>t.Changed)),mt=4,dt=5e3;function He({metrics:t}){let{params:r}=R.use(),[n]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),a=r.get("agg")??"mean",s=r.get("g"),o=t.length<=mt,i=o&&a==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(p=>/^[\d.]+pct$/.test(p))))].sort((m,p)=>parseFloat(m)-parseFloat(p)),l={cmp:!0,
pct:o&&c.length>0,raw:o},d=m=>l[m]&&r.get(m)==="1",u=Q(r),x=m=>s&&m.items.find(p=>p.granularity===+s)||te(m,u.from,u.to,n),_=Math.min(...t.map(m=>x(m.policy).granularity)),{value:h,error:g,loading:j}=P(
async m=>{let p=Q(r),{from:D,to:be,span:ve}=p,ot=[a,...i?["min","max"]:[],...d("pct")?c:[]],we=d("raw")&&t.some(se=>ve/se.policy.items[0].granularity>dt),[it,st,lt]=await Promise.all([J(t,ot,D,be,x,m),
d("cmp")?J(t,[a],D-ve,D,x,m):[],d("raw")&&!we?Promise.all(t.map(se=>Ue(se.id,D,be,m))):[]]);return{range:p,columns:it,before:st,raw:lt,method:a,tooMany:we}},[t,a,s,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],u.live?Math.min(30,Math.max(1,_)):0),M=E(()=>h?ft(h):[],[h]),z=M.map(m=>i&&!m.derived?{...m,low:h.columns[m.color].values.min,high:h.columns[m.color].values.max}:m),k=[...new Set(
t.flatMap(m=>m.policy.methods))].sort((m,p)=>Ge(m)-Ge(p)||m.localeCompare(p,"en",{numeric:!0})),I=[...new Set(t.flatMap(m=>m.policy.items.map(p=>p.granularity)))].sort((m,p)=>m-p),oe=X(t[0].name??"",t[0].
unit),W=F(),K=r.get("view")==="table",G=Te(r),V=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,O=h?.range??u,he=(m,p)=>y({from:String(Math.floor(m)),to:String(Math.ceil(p))}),ie=(m,p,D)=>l[m]&&
e("button",{type:"button","aria-pressed":d(m),title:D,onClick:()=>y({[m]:d(m)?null:"1"}),children:p});return e(C,{children:[e(De,{range:O,children:[e("label",{class:"aside",children:["Show ",e("select",
{"aria-label":"Aggregation method",value:a,onChange:m=>y({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(k.includes(a)?k:[a,...k]).map(m=>e("option",{children:m},m))})]}),e(
"label",{class:"aside",children:["of ",e("select",{"aria-label":"Granularity",value:s??"",onChange:m=>y({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),I.map(m=>e(
"option",{value:String(m),children:L(m)},m))]})]})]}),g&&e(v,{bad:!0,children:g}),e(T,{title:V,id:"drawn",aside:e(C,{children:[ie("cmp","Before",`Compare with the ${L(Math.round(O.span))} before`),ie(
"pct","Percentiles",c.join(", ")),ie("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!G,title:"Mark a time, and see which metrics moved most",onClick:()=>y(
{w:G?null:pt(O)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":K,onClick:()=>y({view:K?null:"table"}),children:"Table"}),e(Re,{title:"Copy",children:[e(bt,{metrics:t,columns:h?.
columns,method:a,range:O}),!K&&e("button",{type:"button",onClick:()=>{import("./more-DD5LFH4W.js").then(({picture:m})=>m("drawn",V,z,`${me(O.from,W)} \u2013 ${me(O.to,W)} ${W}`)).then(m=>Pe(m,V+
".png"))},children:"PNG"})]})]}),children:[h&&e("p",{class:"hint",id:"archive","data-from":h.range.from,children:ht(h)}),h&&(K?e(Ie,{rows:M,unit:oe,zone:W,name:V}):e(B,{lines:z,from:O.from,to:O.to,height:340,
unit:oe,zone:W,title:V,shades:gt(G),onZoom:(m,p)=>G?y({w:`${Math.floor(m)}-${Math.ceil(p)}`}):he(m,p),onPan:he})),!h&&j&&e("p",{class:"hint",children:"Reading \u2026"})]}),G&&e(ct,{}),h&&e(Be,{rows:M,
unit:oe,onRemove:m=>y({m:t.map(p=>p.id).filter(p=>p!==m)}),href:m=>A("metric",{id:m})})]})}var ut=["mean","max","min","sum","count","last","first","median","std"],Ge=t=>ut.indexOf(t)+1||99,pt=({from:t,
to:r})=>`${Math.floor(r-(r-t)/3)}-${Math.ceil(r)}`,gt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function ft({range:t,columns:r,before:n,raw:a,method:s}){let o=r.map((i,c)=>Ve(i,c,s));return r.
forEach((i,c)=>{let{id:l,label:d}=o[c];for(let[u,x]of Object.entries(i.values))u!==s&&/pct$/.test(u)&&o.push({...o[c],id:l+u,label:`${d} ${u}`,values:x,look:"dotted",derived:!0});n[c]&&o.push({...Ve(n[c],
c,s),id:l+"before",label:`${d}, ${L(Math.round(t.span))} before`,times:n[c].times.map(u=>u+t.span),look:"dashed",derived:!0}),a[c]?.times.length&&o.push({...o[c],id:l+"raw",label:`${d}, measures`,...a[c],
look:"dots",derived:!0})}),o}function Ve(t,r,n){let[a,s]=n in t.values?[n,t.values[n]]:Object.entries(t.values)[0]??[n,[]];return{id:t.metric.id,label:(t.metric.name??t.metric.id)+(a===n?"":` (${a})`),
color:r,times:t.times,values:s,step:t.item.granularity}}function ht({columns:t,method:r,raw:n,tooMany:a}){let s=new Set(t.map(i=>`${r in i.values?r:Object.keys(i.values)[0]??r} of ${L(i.item.granularity)}\
, kept for ${L(i.item.timespan)} (archive policy ${i.metric.policy.name})`)),o=n.length?n.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of thi\
s time":"";return"Drawn from "+[...s].join("; ")+(a?"; zoom in to see raw measures":o)}function bt({metrics:t,columns:r,method:n,range:a}){let s=Math.floor(a.from),o=Math.ceil(a.to),i=t[0],c=r?.[0]?.item.
granularity??i.policy.items[0].granularity,l=`start=${s}&stop=${o}&granularity=${c}&aggregation=${encodeURIComponent(n)}`,d=u=>t.map(u).join(`
`);return e(C,{children:[e(H,{label:"curl",title:"Copy as curl",text:d(u=>`curl -u USER: '${le(`/v1/metric/${u.id}/measures?${l}`)}'`)}),e(H,{label:"Python",title:"Copy as Python",text:vt(t.map(u=>u.id),
l)}),e(H,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(u=>`gnocchi measures show ${u.id} --aggregation ${n} --granularity ${c} --start ${s} --stop ${o}`)}),e(H,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(ue).join(" or ")})]})}var vt=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(le("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,ue=t=>`{${[de(t.name??""),...t.resource?[`resource_id=${de(t.resource)}`]:[]].join(", ")}}`;var wt=300,yt=6;function Je(t){let r=t.get("find")??"",n=t.getAll("l").map(h=>h.split(/=(.*)/s).slice(0,2)),a=!r&&!n.length&&!t.has("m")&&!t.has("q"),[s,o]=b(!1),i=[r,n.join(`
`)],c=s?1:15,{value:l,error:d}=P(h=>Ae(Le(r,n),wt,h),i,c),{value:u,error:x}=P(h=>qe(r,n,h),i,c),_=a&&l?.length===0;return S(()=>o(_),[_]),{text:r,labels:n,series:l,counts:u,error:d??x,empty:_}}function Ze({
finder:t,chosen:r}){let{text:n,labels:a,series:s,counts:o,error:i}=t,[c,l]=b(n),d=q(n);S(()=>{n!==d.current&&(d.current=n,l(n))},[n]),S(()=>{if(c===d.current)return;let g=setTimeout(()=>{d.current=c,y(
{find:c||null},!0)},150);return()=>clearTimeout(g)},[c]);let u=new Set(r.map(ee)),x=async g=>{let j=await Ee(g),M=r.map(z=>z.id);y({q:null,lang:null,m:M.includes(j.id)?M.filter(z=>z!==j.id):[...M,j.id]})},
_=E(()=>s?.map(g=>e("li",{children:e("button",{type:"button","aria-pressed":u.has(ee(g)),title:xt(g),onClick:()=>{x(g)},children:[e("span",{children:g.name}),e("small",{children:kt(g)})]})},ee(g)+JSON.
stringify(g.labels))),[s,r]),h=o?St(o,a):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"search",children:[e("input",{type:"search",placeholder:"Find me\
trics","aria-label":"Find metrics by name",value:c,onInput:g=>l(g.currentTarget.value)}),e("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>y({q:r.map(
ue).join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:h.map(({name:g,values:j,counts:M})=>{let z=a.find(([k])=>k===g)?.[1]??"";return e("select",{"aria-l\
abel":Qe(g),"data-label":g,value:z,onChange:k=>y({l:[...a.filter(([I])=>I!==g),...k.currentTarget.value?[[g,k.currentTarget.value]]:[]].map(I=>I.join("="))}),children:[e("option",{value:"",children:Qe(
g)}),z&&!M.some(k=>k.name===z)&&e("option",{value:z,children:z}),M.map(k=>e("option",{value:k.name,children:[k.name," (",k.value.toLocaleString("en"),")"]},k.name)),j>M.length&&e("option",{disabled:!0,
children:["and ",(j-M.length).toLocaleString("en")," more"]})]},g)})}),i&&e(v,{bad:!0,children:i}),o&&e("p",{class:"hint",id:"found",children:o.total===1?"1 metric":`${o.total.toLocaleString("en")} me\
trics`}),e("ul",{class:"found",children:[_,s&&o&&o.total>s.length&&e("li",{class:"hint",children:["and ",(o.total-s.length).toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}var pe={
resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},Qe=t=>pe[t]??t,xt=t=>[t.name,t.resource,...Object.entries(t.labels).map(([
r,n])=>`${r}=${n}`)].filter(Boolean).join(`
`),kt=t=>Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??(t.labels.resource_type==="generic"?"":t.labels.resource_type);function St(t,r){let n=new Set(r.map(([o])=>o)),a=Object.keys(pe).
slice(0,3),s=o=>n.has(o.name)?0:a.indexOf(o.name)+1||(o.name in pe?99:9);return t.facets.filter(o=>n.has(o.name)||o.values>1||o.counts[0].value<t.total).sort((o,i)=>s(o)-s(i)).slice(0,yt)}var _t=12,Mt=8,zt=340;function Ke({finder:t}){let{params:r}=R.use(),n=E(()=>Ct(t.series??[]),[t.series]),a=n.flatMap(([,i])=>i),{value:s,error:o}=P(async i=>{let c=Q(r),l=await Fe(a),d=await J(l,["mea\
n"],c.from,c.to,u=>te(u,c.from,c.to,zt),i);return{range:c,columns:new Map(d.map(u=>[(u.metric.resource??"")+"/"+u.metric.name,u]))}},[n,r.get("from")],1);return t.series?n.length?e(C,{children:[o&&e(v,
{bad:!0,children:o}),e("div",{class:"tiles",children:n.map(([i,c])=>s&&e($t,{name:i,columns:c.flatMap(l=>s.columns.get(l.resource+"/"+l.name)??[]),range:s.range},i+c[0].resource))})]}):e(v,{children:"\
No metric is called like that."}):t.error?null:e(v,{children:"Looking for metrics \u2026"})}function Ct(t){let r=new Map;for(let n of t){let a=n.resource+"/"+n.name.replace(/\d+/g,"#"),s=r.get(a)??[];
if(s.length<Mt&&r.set(a,[...s,n]),r.size>_t){r.delete(a);break}}return[...r.values()].map(n=>[n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name,n])}function $t({name:t,columns:r,range:n}){if(!r.length)
return null;let a=X(t,r[0].metric.unit),s=r.map((i,c)=>({label:i.metric.name??i.metric.id,color:c,times:i.times,values:Object.values(i.values)[0]??[],step:i.item.granularity})),o=s.map(i=>i.values.at(
-1)).filter(i=>i!=null);return e("a",{class:"panel tile",href:A("explore",{m:r.map(i=>i.metric.id)}),"data-name":t,children:[e("header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[
o.slice(0,3).map(i=>f(i,a,3)).join(" \xB7 "),o.length>3&&" \u2026"]})]}),e(B,{lines:s,from:n.from,to:n.to,height:130,unit:a,zone:F(),title:t,small:!0})]})}var Pt=N(()=>import("./more-DD5LFH4W.js").then(t=>t.First)),Rt=N(()=>import("./more-DD5LFH4W.js").then(t=>t.QueryView));function Ye(){let{params:t}=R.use(),r=Je(t),n=t.getAll("m"),a=n.join(),
[s,o]=b([]),[i,c]=b("");S(()=>{let d=!0;return c(""),Promise.allSettled(n.map(Oe)).then(u=>{if(!d)return;o(u.flatMap(_=>_.status==="fulfilled"?[_.value]:[]));let x=u.find(_=>_.status==="rejected");x&&
c(x.reason.message)}),()=>{d=!1}},[a]);let l=E(()=>s.filter(d=>n.includes(d.id)),[s,a]);return r.empty?e(Pt,{}):e("div",{class:"split",children:[e(Ze,{finder:r,chosen:l}),e("div",{children:[i&&e(v,{bad:!0,
children:i}),t.has("q")?e(Rt,{}):n.length?l.length>0&&e(He,{metrics:l}):e(Ke,{finder:r})]})]})}function Xe(t){let r=[];for(let n of t.split(`
`)){if(!n||n.startsWith("#"))continue;let a=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(n);if(!a)continue;let s={};for(let[,o,i]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))s[o]=i.replace(/\\(.)/g,
(c,l)=>l==="n"?`
`:l);r.push({name:a[1],labels:s,value:Number(a[3])})}return r}function w(t,r,n={}){let a=t.filter(s=>s.name===r&&Object.entries(n).every(([o,i])=>s.labels[o]===i));return a.length?a.reduce((s,o)=>s+o.
value,0):null}var Tt={none:"none",up:"GPU",down:"GPU, out of use"},ae=2,et=150;function tt(){let t=P(l=>Ce("/v1/status?details=false",void 0,l),[],ae),r=P(async l=>({time:Date.now()/1e3,samples:Xe(await(await ze("G\
ET","/metrics",void 0,l)).text())}),[],ae),n=q([]),a=q([]),[,s]=b(0);S(()=>{r.value&&(n.current=[...n.current,r.value].slice(-et),s(l=>l+1))},[r.value]),S(()=>{t.value?.cluster&&(a.current=[...a.current,
t.value.cluster.members].slice(-1-rt),s(l=>l+1))},[t.value]);let o=r.value?.samples,i=t.value?.cluster,c=F();return e(C,{children:[r.error&&e(v,{bad:!0,children:r.error}),t.error&&e(v,{children:[t.error,
": who holds what is shown to administrators only."]}),i?.damaged.map(l=>e(v,{bad:!0,children:[l.name," is damaged since ",l.since,": ",l.reason]},l.name)),i&&i.members.length>1&&e(T,{title:"The clust\
er",aside:e("span",{children:[i.members.length," processes",i.silent?.length?", silent: "+i.silent.join(", "):""]}),children:e("dl",{class:"figures",children:[e($,{id:"all-accepted",name:"Measures acc\
epted",value:U(ne(i.members.map(l=>re(a.current,l.id,"accepted")))),about:f(ne(i.members.map(l=>l.figures?.accepted??null)),"",12)+" in all"}),e($,{id:"all-processed",name:"Measures processed",value:U(
ne(i.members.map(l=>re(a.current,l.id,"processed")))),about:f(ne(i.members.map(l=>l.figures?.processed??null)),"",12)+" in all"}),e($,{id:"all-backlog",name:"Backlog",value:f(i.sacks.reduce((l,d)=>l+d.
measures,0)),about:"lag "+f(Math.max(0,...i.sacks.map(l=>l.seconds)),"seconds",3)})]})}),o&&e(C,{children:[e(T,{title:"This process",aside:e("span",{children:["version ",o.find(l=>l.name==="gnocco_bui\
ld_info")?.labels.version,", up ",L(Math.round(Date.now()/1e3-(w(o,"process_start_time_seconds")??0)))]}),children:e("dl",{class:"figures",children:[e($,{id:"accepted",name:"Measures accepted",value:U(
Z(n.current,"gnocco_incoming_measures_total")),about:f(w(o,"gnocco_incoming_measures_total"),"",12)+" in all"}),e($,{id:"processed",name:"Measures processed",value:U(Z(n.current,"gnocco_metricd_measur\
es_processed_total"))}),e($,{id:"backlog",name:"Backlog",value:f(w(o,"gnocco_incoming_backlog_measures")),about:"lag "+f(Math.max(0,w(o,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e($,{id:"\
metrics",name:"Metrics",value:f(w(o,"gnocco_index_metrics"),"",12)}),e($,{id:"requests",name:"Requests",value:U(Z(n.current,"gnocco_http_requests_total")),about:f(w(o,"gnocco_http_connections"))+" con\
nections"}),e($,{id:"cpu",name:"Processor",value:Nt(Z(n.current,"process_cpu_seconds_total")),about:"of one core"}),e($,{id:"dropped",name:"Measures too old",value:f(w(o,"gnocco_metricd_measures_dropp\
ed_total",{reason:"too_old"}),"",12),about:"since the start"}),e($,{id:"device",name:"Device",value:jt(o)})]})}),e("div",{class:"two",children:[e(T,{title:"Measures a second",children:e(Ot,{history:n.
current,zone:c})}),e(T,{title:"Memory and disk",children:e(Ft,{samples:o})})]}),e(T,{title:"Backlog by sack",aside:e("span",{children:[nt(o).length," sacks held here; a full cell is the longest backlo\
g"]}),children:e(Lt,{samples:o})})]}),i&&e(T,{title:"Members",aside:i.silent?.length?e("span",{children:["silent: ",i.silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"\
members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"\
number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Ve\
rsion"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:i.members.map(l=>e("tr",{"data-member":l.id,children:[e("td",{class:"mono",children:l.id}),e("td",{class:"mono",children:l.address}),
e("td",{children:l.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:U(re(a.current,l.id,"accepted"))}),e("td",{class:"number","data-figure":"processed",children:U(re(a.current,
l.id,"processed"))}),e("td",{"data-figure":"memory",children:l.figures?f(l.figures.memory,"bytes",3)+" of "+f(l.figures.memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:l.figures?
Tt[l.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:l.figures?.version??"\u2013"}),e("td",{children:qt(i.claims.filter(d=>d.member===l.id).map(d=>d.name))})]},l.id))})]})})})]})}var rt=5;
function re(t,r,n){let a=t.map(i=>i.find(c=>c.id===r)?.figures).filter(i=>i!==void 0),s=a[0],o=a.at(-1);return s&&o&&o.uptime>s.uptime?(o[n]-s[n])/(o.uptime-s.uptime):null}function ne(t){let r=t.filter(
n=>n!==null);return r.length?r.reduce((n,a)=>n+a,0):null}function Z(t,r,n=rt){let a=t.at(-1),s=t.at(-1-n)??t[0];if(!a||a===s)return null;let o=w(s.samples,r),i=w(a.samples,r);return o===null||i===null||
i<o?null:(i-o)/(a.time-s.time)}var U=t=>t===null?"\u2013":f(t,"",3)+" /s",Nt=t=>t===null?"\u2013":f(100*t,"percent",3);function jt(t){return t.filter(n=>n.name.startsWith("gnocco_gpu_")).length?(w(t,"\
gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function Ot({history:t,zone:r}){let n=(s,o,i)=>{let c=[],l=[];for(let d=1;d<t.length;d++)c.push(t[d].time),l.push(Z(t.slice(0,d+1),o,1));return{label:s,
color:i,times:c,values:l,step:ae*2}},a=t.at(-1)?.time??Date.now()/1e3;return e(B,{lines:[n("accepted","gnocco_incoming_measures_total",0),n("processed","gnocco_metricd_measures_processed_total",1)],from:a-
ae*et,to:a,height:180,unit:"",zone:r,title:"Measures a second"})}var Et=["index","incoming","sacks"];function Ft({samples:t}){let r=w(t,"process_resident_memory_bytes")??0,n=w(t,"go_gc_gomemlimit_byte\
s")??0,a=w(t,"gnocco_memory_used_bytes")??0,s=w(t,"gnocco_memory_budget_bytes")??0,o=Et.map(c=>[c,w(t,"gnocco_store_disk_bytes",{store:c})??0]),i=Math.max(1,...o.map(([,c])=>c));return e(C,{children:[
e(ge,{id:"memory",name:"Memory of the process",value:r,of:n<1e18?n:0}),e(ge,{id:"budget",name:"Held by requests",value:a,of:s}),o.map(([c,l])=>e(ge,{id:"disk-"+c,name:"Disk: "+c,value:l,share:l/i},c))]})}
function ge({id:t,name:r,value:n,of:a,share:s}){return e("div",{id:t,"data-value":n,children:[e("div",{class:"aside",children:[e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[f(n,"by\
tes",3),a?" of "+f(a,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,s??(a?n/a:0))+"%"}})})]})}var nt=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort(
(r,n)=>+r.labels.sack-+n.labels.sack);function Lt({samples:t}){let r=nt(t),n=Math.max(1,...r.map(a=>a.value));return e("div",{class:"strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${f(Math.
max(0,...r.map(a=>a.value)))} at most`,children:r.map(a=>e("i",{"data-sack":a.labels.sack,"data-value":a.value,title:`sack ${a.labels.sack}: ${f(a.value)} measures wait, ${f(w(t,"gnocco_sack_backlog_a\
ge_seconds",{sack:a.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*a.value/n)}%, var(--accent-soft))`}},a.labels.sack))})}function qt(t){let r=t.filter(
s=>s.startsWith("sacks/")).map(s=>+s.slice(6)).sort((s,o)=>s-o),n=[];for(let s=0;s<r.length;s++){let o=s;for(;r[o+1]===r[o]+1;)o++;n.push(o>s?`${r[s]}\u2013${r[o]}`:`${r[s]}`),s=o}let a=t.filter(s=>!s.
startsWith("sacks/")).map(s=>s.startsWith("incoming/")?"an incoming store":"the "+s);return[...new Set(a),...n.length?[(r.length===1?"sack ":"sacks ")+n.join(", ")]:[]].join(", ")||"nothing"}var at=[{name:"explore",title:"Explore",page:Ye},{name:"policies",title:"Policies",page:N(()=>import("./more-DD5LFH4W.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:N(
()=>import("./more-DD5LFH4W.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:tt},{name:"metric",page:N(()=>import("./more-DD5LFH4W.js").then(t=>t.MetricPage))}],At=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function Ut(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=F(),n=[...new Set([t,r,...At])];return e("select",{"aria-label":"Time zone",value:r,onChange:a=>y({tz:a.currentTarget.value===t?null:a.currentTarget.value}),children:n.map(a=>e("option",{value:a,
children:a.replaceAll("_"," ")},a))})}var fe=null;document.addEventListener("focusin",t=>{fe=t.target});function Dt(){let t=R.use(),r=Y.use(),n=ke.use(),a=Ne.use(),[s,o]=b("");S(()=>{Bt.then(o)},[]);let i=at.
find(d=>d.name===t.page),c=i?.page;S(()=>{document.title=(i?.title??"Metric")+" \xB7 Gnocco"},[i]);let l=q(t.page);return xe(()=>{(t.page!==l.current||fe&&!fe.isConnected)&&ce(),l.current=t.page},[t]),
e(C,{children:[e("a",{class:"skip",href:"#main",onClick:d=>{d.preventDefault(),ce()},children:"To the content"}),e("header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("im\
g",{src:"icon.svg",alt:"",width:"22",height:"22"}),"Gnocco"]}),e("nav",{"aria-label":"Pages",children:at.map(d=>d.title&&e("a",{href:A(d.name),"aria-current":d.name===t.page?"page":void 0,children:d.title},
d.name))}),e("div",{class:"settings",children:[e(Ut,{}),e("button",{type:"button",class:"icon","aria-label":a==="dark"?"Light colours":"Dark colours",title:a==="dark"?"Light colours":"Dark colours",onClick:je,
children:a==="dark"?"\u2600":"\u263E"}),r&&r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:Me,title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,
children:[s&&e(v,{bad:!0,children:s}),n&&e(We,{}),r&&!n&&i?.title&&e($e,{hidden:!0,children:i.title},i.name),r&&!n&&(c?e(c,{},t.page+r.user):e(v,{children:["There is no page of this name. ",e("a",{href:A(
"explore"),children:"Explore"})," is where to begin."]}))]})]})}var Bt=Se().then(()=>"",()=>"The server does not answer. Load the page again when it does.");R.get().page!=="explore"&&R.get().page!=="s\
erver"&&import("./more-DD5LFH4W.js").catch(()=>{});ye(e(Dt,{}),document.getElementById("app"));
