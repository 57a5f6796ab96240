import{a as e,b as v,c as R,d as $,e as V,f as Me,g as ze,h as T,i as P,j as q,k as w,l as J,m as E,n as Ce,o as $e,p as Te,q as D,r as Le,s as qe,t as Ae}from"./chunk-I7EWQVGH.js";import{A as ee,
B as Re,C as je,D as me,E as Ne,F as Oe,G as Fe,H as te,I as Z,K as Ee,b as C,c as ve,d as b,e as S,g as Q,h as F,j as Y,k as ye,m as we,n as xe,o as ke,p as le,q as Se,r as _e,s as X,t as f,u as L,w as ce,
z as Pe}from"./chunk-UAJDNLKS.js";function Ue(){let t=Y.use(),[r,n]=b(""),[o,s]=b(""),[a,i]=b(""),[c,l]=b(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async p=>{p.preventDefault();try{await xe(t.credentials,
c?"":r,o)}catch(x){i(x.status===401?"These are not known here.":x.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!a&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),a&&e("p",{class:"notice bad",role:"alert",children:a}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:p=>n(p.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:o,onInput:p=>s(p.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>l(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function j(t){let r;return function(){let[,o]=b(0),[s,a]=b(!1);S(()=>{r||t().then(c=>{r=c,o(1)},()=>a(!0))},[]);let i=r;return i?e(i,{}):s?e(v,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var at=j(()=>import("./more-DWS4KBU7.js").then(t=>t.Changed)),it=4,st=5e3;function Ie({metrics:t}){let{params:r}=P.use(),[n]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),o=r.get("agg")??"mean",s=r.get("g"),a=t.length<=it,i=a&&o==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(u=>/^[\d.]+pct$/.test(u))))].sort((m,u)=>parseFloat(m)-parseFloat(u)),l={cmp:!0,
pct:a&&c.length>0,raw:a},d=m=>l[m]&&r.get(m)==="1",p=J(r),x=m=>s&&m.items.find(u=>u.granularity===+s)||te(m,p.from,p.to,n),_=Math.min(...t.map(m=>x(m.policy).granularity)),{value:h,error:g,loading:N}=T(
async m=>{let u=J(r),{from:U,to:fe,span:he}=u,tt=[o,...i?["min","max"]:[],...d("pct")?c:[]],be=d("raw")&&t.some(se=>he/se.policy.items[0].granularity>st),[rt,nt,ot]=await Promise.all([Z(t,tt,U,fe,x,m),
d("cmp")?Z(t,[o],U-he,U,x,m):[],d("raw")&&!be?Promise.all(t.map(se=>Ee(se.id,U,fe,m))):[]]);return{range:u,columns:rt,before:nt,raw:ot,method:o,tooMany:be}},[t,o,s,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],p.live?Math.min(30,Math.max(1,_)):0),M=F(()=>h?dt(h):[],[h]),z=M.map(m=>i&&!m.derived?{...m,low:h.columns[m.color].values.min,high:h.columns[m.color].values.max}:m),k=[...new Set(
t.flatMap(m=>m.policy.methods))].sort((m,u)=>De(m)-De(u)||m.localeCompare(u,"en",{numeric:!0})),B=[...new Set(t.flatMap(m=>m.policy.items.map(u=>u.granularity)))].sort((m,u)=>m-u),ae=X(t[0].name??"",t[0].
unit),I=E(),K=r.get("view")==="table",W=Ce(r),G=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,O=h?.range??p,ge=(m,u)=>w({from:String(Math.floor(m)),to:String(Math.ceil(u))}),ie=(m,u,U)=>l[m]&&
e("button",{type:"button","aria-pressed":d(m),title:U,onClick:()=>w({[m]:d(m)?null:"1"}),children:u});return e(C,{children:[e(Le,{range:O,children:[e("label",{class:"aside",children:["Show ",e("select",
{"aria-label":"Aggregation method",value:o,onChange:m=>w({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(k.includes(o)?k:[o,...k]).map(m=>e("option",{children:m},m))})]}),e(
"label",{class:"aside",children:["of ",e("select",{"aria-label":"Granularity",value:s??"",onChange:m=>w({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),B.map(m=>e(
"option",{value:String(m),children:L(m)},m))]})]})]}),g&&e(v,{bad:!0,children:g}),e(R,{title:G,id:"drawn",aside:e(C,{children:[ie("cmp","Before",`Compare with the ${L(Math.round(O.span))} before`),ie(
"pct","Percentiles",c.join(", ")),ie("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!W,title:"Mark a time, and see which metrics moved most",onClick:()=>w(
{w:W?null:ct(O)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":K,onClick:()=>w({view:K?null:"table"}),children:"Table"}),e(ze,{title:"Copy",children:[e(ut,{metrics:t,columns:h?.
columns,method:o,range:O}),!K&&e("button",{type:"button",onClick:()=>{import("./more-DWS4KBU7.js").then(({picture:m})=>m("drawn",G,z,`${ce(O.from,I)} \u2013 ${ce(O.to,I)} ${I}`)).then(m=>Me(m,G+
".png"))},children:"PNG"})]})]}),children:[h&&e("p",{class:"hint",id:"archive","data-from":h.range.from,children:pt(h)}),h&&(K?e(Ae,{rows:M,unit:ae,zone:I,name:G}):e(D,{lines:z,from:O.from,to:O.to,height:340,
unit:ae,zone:I,title:G,shades:mt(W),onZoom:(m,u)=>W?w({w:`${Math.floor(m)}-${Math.ceil(u)}`}):ge(m,u),onPan:ge})),!h&&N&&e("p",{class:"hint",children:"Reading \u2026"})]}),W&&e(at,{}),h&&e(qe,{rows:M,
unit:ae,onRemove:m=>w({m:t.map(u=>u.id).filter(u=>u!==m)}),href:m=>q("metric",{id:m})})]})}var lt=["mean","max","min","sum","count","last","first","median","std"],De=t=>lt.indexOf(t)+1||99,ct=({from:t,
to:r})=>`${Math.floor(r-(r-t)/3)}-${Math.ceil(r)}`,mt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function dt({range:t,columns:r,before:n,raw:o,method:s}){let a=r.map((i,c)=>Be(i,c,s));return r.
forEach((i,c)=>{let{id:l,label:d}=a[c];for(let[p,x]of Object.entries(i.values))p!==s&&/pct$/.test(p)&&a.push({...a[c],id:l+p,label:`${d} ${p}`,values:x,look:"dotted",derived:!0});n[c]&&a.push({...Be(n[c],
c,s),id:l+"before",label:`${d}, ${L(Math.round(t.span))} before`,times:n[c].times.map(p=>p+t.span),look:"dashed",derived:!0}),o[c]?.times.length&&a.push({...a[c],id:l+"raw",label:`${d}, measures`,...o[c],
look:"dots",derived:!0})}),a}function Be(t,r,n){let[o,s]=n in t.values?[n,t.values[n]]:Object.entries(t.values)[0]??[n,[]];return{id:t.metric.id,label:(t.metric.name??t.metric.id)+(o===n?"":` (${o})`),
color:r,times:t.times,values:s,step:t.item.granularity}}function pt({columns:t,method:r,raw:n,tooMany:o}){let s=new Set(t.map(i=>`${r in i.values?r:Object.keys(i.values)[0]??r} of ${L(i.item.granularity)}\
, kept for ${L(i.item.timespan)} (archive policy ${i.metric.policy.name})`)),a=n.length?n.some(i=>i.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of thi\
s time":"";return"Drawn from "+[...s].join("; ")+(o?"; zoom in to see raw measures":a)}function ut({metrics:t,columns:r,method:n,range:o}){let s=Math.floor(o.from),a=Math.ceil(o.to),i=t[0],c=r?.[0]?.item.
granularity??i.policy.items[0].granularity,l=`start=${s}&stop=${a}&granularity=${c}&aggregation=${encodeURIComponent(n)}`,d=p=>t.map(p).join(`
`);return e(C,{children:[e(V,{label:"curl",title:"Copy as curl",text:d(p=>`curl -u USER: '${le(`/v1/metric/${p.id}/measures?${l}`)}'`)}),e(V,{label:"Python",title:"Copy as Python",text:gt(t.map(p=>p.id),
l)}),e(V,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(p=>`gnocchi measures show ${p.id} --aggregation ${n} --granularity ${c} --start ${s} --stop ${a}`)}),e(V,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(de).join(" or ")})]})}var gt=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(le("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,de=t=>`{${[me(t.name??""),...t.resource?[`resource_id=${me(t.resource)}`]:[]].join(", ")}}`;var ft=300,ht=6;function Ge(t){let r=t.get("find")??"",n=t.getAll("l").map(h=>h.split(/=(.*)/s).slice(0,2)),o=!r&&!n.length&&!t.has("m")&&!t.has("q"),[s,a]=b(!1),i=[r,n.join(`
`)],c=s?1:15,{value:l,error:d}=T(h=>Fe(Ne(r,n),ft,h),i,c),{value:p,error:x}=T(h=>Oe(r,n,h),i,c),_=o&&l?.length===0;return S(()=>a(_),[_]),{text:r,labels:n,series:l,counts:p,error:d??x,empty:_}}function Qe({
finder:t,chosen:r}){let{text:n,labels:o,series:s,counts:a,error:i}=t,[c,l]=b(n),d=Q(n);S(()=>{n!==d.current&&(d.current=n,l(n))},[n]),S(()=>{if(c===d.current)return;let g=setTimeout(()=>{d.current=c,w(
{find:c||null},!0)},150);return()=>clearTimeout(g)},[c]);let p=new Set(r.map(ee)),x=async g=>{let N=await Re(g),M=r.map(z=>z.id);w({q:null,lang:null,m:M.includes(N.id)?M.filter(z=>z!==N.id):[...M,N.id]})},
_=F(()=>s?.map(g=>e("li",{children:e("button",{type:"button","aria-pressed":p.has(ee(g)),title:bt(g),onClick:()=>{x(g)},children:[e("span",{children:g.name}),e("small",{children:vt(g)})]})},ee(g)+JSON.
stringify(g.labels))),[s,r]),h=a?yt(a,o):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"search",children:[e("input",{type:"search",placeholder:"Find me\
trics","aria-label":"Find metrics by name",value:c,onInput:g=>l(g.currentTarget.value)}),e("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>w({q:r.map(
de).join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:h.map(({name:g,values:N,counts:M})=>{let z=o.find(([k])=>k===g)?.[1]??"";return e("select",{"aria-l\
abel":We(g),"data-label":g,value:z,onChange:k=>w({l:[...o.filter(([B])=>B!==g),...k.currentTarget.value?[[g,k.currentTarget.value]]:[]].map(B=>B.join("="))}),children:[e("option",{value:"",children:We(
g)}),z&&!M.some(k=>k.name===z)&&e("option",{value:z,children:z}),M.map(k=>e("option",{value:k.name,children:[k.name," (",k.value.toLocaleString("en"),")"]},k.name)),N>M.length&&e("option",{disabled:!0,
children:["and ",(N-M.length).toLocaleString("en")," more"]})]},g)})}),i&&e(v,{bad:!0,children:i}),a&&e("p",{class:"hint",id:"found",children:a.total===1?"1 metric":`${a.total.toLocaleString("en")} me\
trics`}),e("ul",{class:"found",children:[_,s&&a&&a.total>s.length&&e("li",{class:"hint",children:["and ",(a.total-s.length).toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}var pe={
resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},We=t=>pe[t]??t,bt=t=>[t.name,t.resource,...Object.entries(t.labels).map(([
r,n])=>`${r}=${n}`)].filter(Boolean).join(`
`),vt=t=>Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??(t.labels.resource_type==="generic"?"":t.labels.resource_type);function yt(t,r){let n=new Set(r.map(([a])=>a)),o=Object.keys(pe).
slice(0,3),s=a=>n.has(a.name)?0:o.indexOf(a.name)+1||(a.name in pe?99:9);return t.facets.filter(a=>n.has(a.name)||a.values>1||a.counts[0].value<t.total).sort((a,i)=>s(a)-s(i)).slice(0,ht)}var wt=12,xt=8,kt=340;function Ve({finder:t}){let{params:r}=P.use(),n=F(()=>St(t.series??[]),[t.series]),o=n.flatMap(([,i])=>i),{value:s,error:a}=T(async i=>{let c=J(r),l=await je(o),d=await Z(l,["mea\
n"],c.from,c.to,p=>te(p,c.from,c.to,kt),i);return{range:c,columns:new Map(d.map(p=>[(p.metric.resource??"")+"/"+p.metric.name,p]))}},[n,r.get("from")],1);return t.series?n.length?e(C,{children:[a&&e(v,
{bad:!0,children:a}),e("div",{class:"tiles",children:n.map(([i,c])=>s&&e(_t,{name:i,columns:c.flatMap(l=>s.columns.get(l.resource+"/"+l.name)??[]),range:s.range},i+c[0].resource))})]}):e(v,{children:"\
No metric is called like that."}):t.error?null:e(v,{children:"Looking for metrics \u2026"})}function St(t){let r=new Map;for(let n of t){let o=n.resource+"/"+n.name.replace(/\d+/g,"#"),s=r.get(o)??[];
if(s.length<xt&&r.set(o,[...s,n]),r.size>wt){r.delete(o);break}}return[...r.values()].map(n=>[n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name,n])}function _t({name:t,columns:r,range:n}){if(!r.length)
return null;let o=X(t,r[0].metric.unit),s=r.map((i,c)=>({label:i.metric.name??i.metric.id,color:c,times:i.times,values:Object.values(i.values)[0]??[],step:i.item.granularity})),a=s.map(i=>i.values.at(
-1)).filter(i=>i!=null);return e("a",{class:"panel tile",href:q("explore",{m:r.map(i=>i.metric.id)}),"data-name":t,children:[e("header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[
a.slice(0,3).map(i=>f(i,o,3)).join(" \xB7 "),a.length>3&&" \u2026"]})]}),e(D,{lines:s,from:n.from,to:n.to,height:130,unit:o,zone:E(),title:t,small:!0})]})}var Mt=j(()=>import("./more-DWS4KBU7.js").then(t=>t.First)),zt=j(()=>import("./more-DWS4KBU7.js").then(t=>t.QueryView));function Je(){let{params:t}=P.use(),r=Ge(t),n=t.getAll("m"),o=n.join(),
[s,a]=b([]),[i,c]=b("");S(()=>{let d=!0;return c(""),Promise.allSettled(n.map(Pe)).then(p=>{if(!d)return;a(p.flatMap(_=>_.status==="fulfilled"?[_.value]:[]));let x=p.find(_=>_.status==="rejected");x&&
c(x.reason.message)}),()=>{d=!1}},[o]);let l=F(()=>s.filter(d=>n.includes(d.id)),[s,o]);return r.empty?e(Mt,{}):e("div",{class:"split",children:[e(Qe,{finder:r,chosen:l}),e("div",{children:[i&&e(v,{bad:!0,
children:i}),t.has("q")?e(zt,{}):n.length?l.length>0&&e(Ie,{metrics:l}):e(Ve,{finder:r})]})]})}function Ze(t){let r=[];for(let n of t.split(`
`)){if(!n||n.startsWith("#"))continue;let o=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(n);if(!o)continue;let s={};for(let[,a,i]of(o[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))s[a]=i.replace(/\\(.)/g,
(c,l)=>l==="n"?`
`:l);r.push({name:o[1],labels:s,value:Number(o[3])})}return r}function y(t,r,n={}){let o=t.filter(s=>s.name===r&&Object.entries(n).every(([a,i])=>s.labels[a]===i));return o.length?o.reduce((s,a)=>s+a.
value,0):null}var Ct={none:"none",up:"GPU",down:"GPU, out of use"},oe=2,He=150;function Ke(){let t=T(l=>_e("/v1/status?details=false",void 0,l),[],oe),r=T(async l=>({time:Date.now()/1e3,samples:Ze(await(await Se("G\
ET","/metrics",void 0,l)).text())}),[],oe),n=Q([]),o=Q([]),[,s]=b(0);S(()=>{r.value&&(n.current=[...n.current,r.value].slice(-He),s(l=>l+1))},[r.value]),S(()=>{t.value?.cluster&&(o.current=[...o.current,
t.value.cluster.members].slice(-1-Ye),s(l=>l+1))},[t.value]);let a=r.value?.samples,i=t.value?.cluster,c=E();return e(C,{children:[r.error&&e(v,{bad:!0,children:r.error}),t.error&&e(v,{children:[t.error,
": who holds what is shown to administrators only."]}),i?.damaged.map(l=>e(v,{bad:!0,children:[l.name," is damaged since ",l.since,": ",l.reason]},l.name)),i&&i.members.length>1&&e(R,{title:"The clust\
er",aside:e("span",{children:[i.members.length," processes",i.silent?.length?", silent: "+i.silent.join(", "):""]}),children:e("dl",{class:"figures",children:[e($,{id:"all-accepted",name:"Measures acc\
epted",value:A(ne(i.members.map(l=>re(o.current,l.id,"accepted")))),about:f(ne(i.members.map(l=>l.figures?.accepted??null)),"",12)+" in all"}),e($,{id:"all-processed",name:"Measures processed",value:A(
ne(i.members.map(l=>re(o.current,l.id,"processed")))),about:f(ne(i.members.map(l=>l.figures?.processed??null)),"",12)+" in all"}),e($,{id:"all-backlog",name:"Backlog",value:f(i.sacks.reduce((l,d)=>l+d.
measures,0)),about:"lag "+f(Math.max(0,...i.sacks.map(l=>l.seconds)),"seconds",3)})]})}),a&&e(C,{children:[e(R,{title:"This process",aside:e("span",{children:["version ",a.find(l=>l.name==="gnocco_bui\
ld_info")?.labels.version,", up ",L(Math.round(Date.now()/1e3-(y(a,"process_start_time_seconds")??0)))]}),children:e("dl",{class:"figures",children:[e($,{id:"accepted",name:"Measures accepted",value:A(
H(n.current,"gnocco_incoming_measures_total")),about:f(y(a,"gnocco_incoming_measures_total"),"",12)+" in all"}),e($,{id:"processed",name:"Measures processed",value:A(H(n.current,"gnocco_metricd_measur\
es_processed_total"))}),e($,{id:"backlog",name:"Backlog",value:f(y(a,"gnocco_incoming_backlog_measures")),about:"lag "+f(Math.max(0,y(a,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e($,{id:"\
metrics",name:"Metrics",value:f(y(a,"gnocco_index_metrics"),"",12)}),e($,{id:"requests",name:"Requests",value:A(H(n.current,"gnocco_http_requests_total")),about:f(y(a,"gnocco_http_connections"))+" con\
nections"}),e($,{id:"cpu",name:"Processor",value:$t(H(n.current,"process_cpu_seconds_total")),about:"of one core"}),e($,{id:"dropped",name:"Measures too old",value:f(y(a,"gnocco_metricd_measures_dropp\
ed_total",{reason:"too_old"}),"",12),about:"since the start"}),e($,{id:"device",name:"Device",value:Tt(a)})]})}),e("div",{class:"two",children:[e(R,{title:"Measures a second",children:e(Pt,{history:n.
current,zone:c})}),e(R,{title:"Memory and disk",children:e(jt,{samples:a})})]}),e(R,{title:"Backlog by sack",aside:e("span",{children:[Xe(a).length," sacks held here; a full cell is the longest backlo\
g"]}),children:e(Nt,{samples:a})})]}),i&&e(R,{title:"Members",aside:i.silent?.length?e("span",{children:["silent: ",i.silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"\
members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"\
number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Ve\
rsion"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:i.members.map(l=>e("tr",{"data-member":l.id,children:[e("td",{class:"mono",children:l.id}),e("td",{class:"mono",children:l.address}),
e("td",{children:l.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:A(re(o.current,l.id,"accepted"))}),e("td",{class:"number","data-figure":"processed",children:A(re(o.current,
l.id,"processed"))}),e("td",{"data-figure":"memory",children:l.figures?f(l.figures.memory,"bytes",3)+" of "+f(l.figures.memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:l.figures?
Ct[l.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:l.figures?.version??"\u2013"}),e("td",{children:Ot(i.claims.filter(d=>d.member===l.id).map(d=>d.name))})]},l.id))})]})})})]})}var Ye=5;
function re(t,r,n){let o=t.map(i=>i.find(c=>c.id===r)?.figures).filter(i=>i!==void 0),s=o[0],a=o.at(-1);return s&&a&&a.uptime>s.uptime?(a[n]-s[n])/(a.uptime-s.uptime):null}function ne(t){let r=t.filter(
n=>n!==null);return r.length?r.reduce((n,o)=>n+o,0):null}function H(t,r,n=Ye){let o=t.at(-1),s=t.at(-1-n)??t[0];if(!o||o===s)return null;let a=y(s.samples,r),i=y(o.samples,r);return a===null||i===null||
i<a?null:(i-a)/(o.time-s.time)}var A=t=>t===null?"\u2013":f(t,"",3)+" /s",$t=t=>t===null?"\u2013":f(100*t,"percent",3);function Tt(t){return t.filter(n=>n.name.startsWith("gnocco_gpu_")).length?(y(t,"\
gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function Pt({history:t,zone:r}){let n=(s,a,i)=>{let c=[],l=[];for(let d=1;d<t.length;d++)c.push(t[d].time),l.push(H(t.slice(0,d+1),a,1));return{label:s,
color:i,times:c,values:l,step:oe*2}},o=t.at(-1)?.time??Date.now()/1e3;return e(D,{lines:[n("accepted","gnocco_incoming_measures_total",0),n("processed","gnocco_metricd_measures_processed_total",1)],from:o-
oe*He,to:o,height:180,unit:"",zone:r,title:"Measures a second"})}var Rt=["index","incoming","sacks"];function jt({samples:t}){let r=y(t,"process_resident_memory_bytes")??0,n=y(t,"go_gc_gomemlimit_byte\
s")??0,o=y(t,"gnocco_memory_used_bytes")??0,s=y(t,"gnocco_memory_budget_bytes")??0,a=Rt.map(c=>[c,y(t,"gnocco_store_disk_bytes",{store:c})??0]),i=Math.max(1,...a.map(([,c])=>c));return e(C,{children:[
e(ue,{id:"memory",name:"Memory of the process",value:r,of:n<1e18?n:0}),e(ue,{id:"budget",name:"Held by requests",value:o,of:s}),a.map(([c,l])=>e(ue,{id:"disk-"+c,name:"Disk: "+c,value:l,share:l/i},c))]})}
function ue({id:t,name:r,value:n,of:o,share:s}){return e("div",{id:t,"data-value":n,children:[e("div",{class:"aside",children:[e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[f(n,"by\
tes",3),o?" of "+f(o,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,s??(o?n/o:0))+"%"}})})]})}var Xe=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort(
(r,n)=>+r.labels.sack-+n.labels.sack);function Nt({samples:t}){let r=Xe(t),n=Math.max(1,...r.map(o=>o.value));return e("div",{class:"strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${f(Math.
max(0,...r.map(o=>o.value)))} at most`,children:r.map(o=>e("i",{"data-sack":o.labels.sack,"data-value":o.value,title:`sack ${o.labels.sack}: ${f(o.value)} measures wait, ${f(y(t,"gnocco_sack_backlog_a\
ge_seconds",{sack:o.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*o.value/n)}%, var(--accent-soft))`}},o.labels.sack))})}function Ot(t){let r=t.filter(
s=>s.startsWith("sacks/")).map(s=>+s.slice(6)).sort((s,a)=>s-a),n=[];for(let s=0;s<r.length;s++){let a=s;for(;r[a+1]===r[a]+1;)a++;n.push(a>s?`${r[s]}\u2013${r[a]}`:`${r[s]}`),s=a}let o=t.filter(s=>!s.
startsWith("sacks/")).map(s=>s.startsWith("incoming/")?"an incoming store":"the "+s);return[...new Set(o),...n.length?[(r.length===1?"sack ":"sacks ")+n.join(", ")]:[]].join(", ")||"nothing"}var et=[{name:"explore",title:"Explore",page:Je},{name:"policies",title:"Policies",page:j(()=>import("./more-DWS4KBU7.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:j(
()=>import("./more-DWS4KBU7.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:Ke},{name:"metric",page:j(()=>import("./more-DWS4KBU7.js").then(t=>t.MetricPage))}],Ft=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function Et(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=E(),n=[...new Set([t,r,...Ft])];return e("select",{"aria-label":"Time zone",value:r,onChange:o=>w({tz:o.currentTarget.value===t?null:o.currentTarget.value}),children:n.map(o=>e("option",{value:o,
children:o.replaceAll("_"," ")},o))})}function Lt(){let t=P.use(),r=Y.use(),n=ye.use(),o=$e.use(),[s,a]=b("");S(()=>{qt.then(a)},[]);let i=et.find(l=>l.name===t.page),c=i?.page;return S(()=>{document.
title=(i?.title??"Metric")+" \xB7 Gnocco"},[i]),e(C,{children:[e("a",{class:"skip",href:"#main",onClick:l=>{l.preventDefault(),document.getElementById("main")?.focus()},children:"To the content"}),e("\
header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("img",{src:"icon.svg",alt:"",width:"22",height:"22"}),"Gnocco"]}),e("nav",{"aria-label":"Pages",children:et.map(l=>l.title&&
e("a",{href:q(l.name),"aria-current":l.name===t.page?"page":void 0,children:l.title},l.name))}),e("div",{class:"settings",children:[e(Et,{}),e("button",{type:"button",class:"icon","aria-label":o==="da\
rk"?"Light colours":"Dark colours",title:o==="dark"?"Light colours":"Dark colours",onClick:Te,children:o==="dark"?"\u2600":"\u263E"}),r&&r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:ke,
title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,children:[s&&e(v,{bad:!0,children:s}),n&&e(Ue,{}),r&&!n&&(c?e(c,{},t.page+r.user):e(v,{children:["There is no p\
age of this name. ",e("a",{href:q("explore"),children:"Explore"})," is where to begin."]}))]})]})}var qt=we().then(()=>"",()=>"The server does not answer. Load the page again when it does.");P.get().page!==
"explore"&&P.get().page!=="server"&&import("./more-DWS4KBU7.js").catch(()=>{});ve(e(Lt,{}),document.getElementById("app"));
