import{a as e,b as w,c as ce,d as $e,e as R,f as C,g as H,h as Pe,i as Re,j as $,k as P,l as A,m as x,n as Q,o as L,p as Te,q as je,r as Ne,s as B,t as Ue,u as De,v as Be}from"./chunk-ARX4RA6O.js";
import{A as Z,B as Fe,C as de,D as Le,E as Oe,F as qe,G as te,H as J,J as Ae,b as z,c as ye,d as v,e as _,f as xe,g as q,h as F,j as X,k as ke,m as Se,n as _e,o as Me,p as le,q as ze,r as Ce,s as ee,t as f,
u as O,w as me,z as Ee}from"./chunk-G3X3VIYF.js";function Ie(){let t=X.use(),[r,n]=v(""),[a,i]=v(""),[o,l]=v(""),[c,s]=v(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await _e(t.credentials,
c?"":r,a)}catch(b){l(b.status===401?"These are not known here.":b.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!o&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),o&&e("p",{class:"notice bad",role:"alert",children:o}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:u=>n(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:a,onInput:u=>i(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>s(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function T(t){let r;return function(){let[,a]=v(0),[i,o]=v(!1);_(()=>{r||t().then(c=>{r=c,a(1)},()=>o(!0))},[]);let l=r;return l?e(l,{}):i?e(w,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var lt=T(()=>import("./more-CHO3FYKE.js").then(t=>t.Changed)),ct=4,mt=5e3;function Ve({metrics:t}){let{params:r}=P.use(),[n]=v(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),a=r.get("agg")??"mean",i=r.get("g"),o=t.length<=ct,l=o&&a==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(g=>/^[\d.]+pct$/.test(g))))].sort((m,g)=>parseFloat(m)-parseFloat(g)),s={cmp:!0,
pct:o&&c.length>0,raw:o},d=m=>s[m]&&r.get(m)==="1",u=Q(r),b=m=>i&&m.items.find(g=>g.granularity===+i)||te(m,u.from,u.to,n),S=Math.min(...t.map(m=>b(m.policy).granularity)),{value:h,error:p,loading:j}=$(
async m=>{let g=Q(r),{from:D,to:be,span:ve}=g,at=[a,...l?["min","max"]:[],...d("pct")?c:[]],we=d("raw")&&t.some(se=>ve/se.policy.items[0].granularity>mt),[ot,it,st]=await Promise.all([J(t,at,D,be,b,m),
d("cmp")?J(t,[a],D-ve,D,b,m):[],d("raw")&&!we?Promise.all(t.map(se=>Ae(se.id,D,be,m))):[]]);return{range:g,columns:ot,before:it,raw:st,method:a,tooMany:we}},[t,a,i,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],u.live?Math.min(30,Math.max(1,S)):0),M=F(()=>h?gt(h):[],[h]),N=M.map(m=>l&&!m.derived?{...m,low:h.columns[m.color].values.min,high:h.columns[m.color].values.max}:m),k=[...new Set(
t.flatMap(m=>m.policy.methods))].sort((m,g)=>We(m)-We(g)||m.localeCompare(g,"en",{numeric:!0})),I=[...new Set(t.flatMap(m=>m.policy.items.map(g=>g.granularity)))].sort((m,g)=>m-g),oe=ee(t[0].name??"",
t[0].unit),W=L(),Y=r.get("view")==="table",G=Te(r),V=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,E=h?.range??u,he=(m,g)=>x({from:String(Math.floor(m)),to:String(Math.ceil(g))}),ie=(m,g,D)=>s[m]&&
e("button",{type:"button","aria-pressed":d(m),title:D,onClick:()=>x({[m]:d(m)?null:"1"}),children:g});return e(z,{children:[e(Ue,{range:E,children:[e("label",{class:"aside",children:["Show ",e("select",
{"aria-label":"Aggregation method",value:a,onChange:m=>x({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(k.includes(a)?k:[a,...k]).map(m=>e("option",{children:m},m))})]}),e(
"label",{class:"aside",children:["of ",e("select",{"aria-label":"Granularity",value:i??"",onChange:m=>x({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),I.map(m=>e(
"option",{value:String(m),children:O(m)},m))]})]})]}),p&&e(w,{bad:!0,children:p}),e(R,{title:V,id:"drawn",aside:e(z,{children:[ie("cmp","Before",`Compare with the ${O(Math.round(E.span))} before`),ie(
"pct","Percentiles",c.join(", ")),ie("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!G,title:"Mark a time, and see which metrics moved most",onClick:()=>x(
{w:G?null:ut(E)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":Y,onClick:()=>x({view:Y?null:"table"}),children:"Table"}),e(Re,{title:"Copy",children:[e(ht,{metrics:t,columns:h?.
columns,method:a,range:E}),!Y&&e("button",{type:"button",onClick:()=>{import("./more-CHO3FYKE.js").then(({picture:m})=>m("drawn",V,N,`${me(E.from,W)} \u2013 ${me(E.to,W)} ${W}`)).then(m=>Pe(m,V+
".png"))},children:"PNG"})]})]}),children:[h&&e("p",{class:"hint",id:"archive","data-from":h.range.from,children:ft(h)}),h&&(Y?e(Be,{rows:M,unit:oe,zone:W,name:V}):e(B,{lines:N,from:E.from,to:E.to,height:340,
unit:oe,zone:W,title:V,shades:pt(G),onZoom:(m,g)=>G?x({w:`${Math.floor(m)}-${Math.ceil(g)}`}):he(m,g),onPan:he})),!h&&j&&e("p",{class:"hint",children:"Reading \u2026"})]}),G&&e(lt,{}),h&&e(De,{rows:M,
unit:oe,onRemove:m=>x({m:t.map(g=>g.id).filter(g=>g!==m)}),href:m=>A("metric",{id:m})})]})}var dt=["mean","max","min","sum","count","last","first","median","std"],We=t=>dt.indexOf(t)+1||99,ut=({from:t,
to:r})=>`${Math.floor(r-(r-t)/3)}-${Math.ceil(r)}`,pt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function gt({range:t,columns:r,before:n,raw:a,method:i}){let o=Z(r.map(c=>c.metric)),l=r.map((c,s)=>Ge(
c,s,i,o[s]));return r.forEach((c,s)=>{let{id:d,label:u}=l[s];for(let[b,S]of Object.entries(c.values))b!==i&&/pct$/.test(b)&&l.push({...l[s],id:d+b,label:`${u} ${b}`,values:S,look:"dotted",derived:!0});
n[s]&&l.push({...Ge(n[s],s,i,o[s]),id:d+"before",label:`${u}, ${O(Math.round(t.span))} before`,times:n[s].times.map(b=>b+t.span),look:"dashed",derived:!0}),a[s]?.times.length&&l.push({...l[s],id:d+"ra\
w",label:`${u}, measures`,...a[s],look:"dots",derived:!0})}),l}function Ge(t,r,n,a){let[i,o]=n in t.values?[n,t.values[n]]:Object.entries(t.values)[0]??[n,[]];return{id:t.metric.id,label:a+(i===n?"":`\
 (${i})`),color:r,times:t.times,values:o,step:t.item.granularity}}function ft({columns:t,method:r,raw:n,tooMany:a}){let i=new Set(t.map(l=>`${r in l.values?r:Object.keys(l.values)[0]??r} of ${O(l.item.
granularity)}, kept for ${O(l.item.timespan)} (archive policy ${l.metric.policy.name})`)),o=n.length?n.some(l=>l.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are no\
t kept of this time":"";return"Drawn from "+[...i].join("; ")+(a?"; zoom in to see raw measures":o)}function ht({metrics:t,columns:r,method:n,range:a}){let i=Math.floor(a.from),o=Math.ceil(a.to),l=t[0],
c=r?.[0]?.item.granularity??l.policy.items[0].granularity,s=`start=${i}&stop=${o}&granularity=${c}&aggregation=${encodeURIComponent(n)}`,d=u=>t.map(u).join(`
`);return e(z,{children:[e(H,{label:"curl",title:"Copy as curl",text:d(u=>`curl -u USER: '${le(`/v1/metric/${u.id}/measures?${s}`)}'`)}),e(H,{label:"Python",title:"Copy as Python",text:bt(t.map(u=>u.id),
s)}),e(H,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(u=>`gnocchi measures show ${u.id} --aggregation ${n} --granularity ${c} --start ${i} --stop ${o}`)}),e(H,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(ue).join(" or ")})]})}var bt=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(le("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,ue=t=>`{${[de(t.name??""),...t.resource?[`resource_id=${de(t.resource)}`]:[]].join(", ")}}`;var vt=300,wt=6;function Qe(t){let r=t.get("find")??"",n=t.getAll("l").map(h=>h.split(/=(.*)/s).slice(0,2)),a=!r&&!n.length&&!t.has("m")&&!t.has("q"),[i,o]=v(!1),l=[r,n.join(`
`)],c=i?1:15,{value:s,error:d}=$(h=>qe(Le(r,n),vt,h),l,c),{value:u,error:b}=$(h=>Oe(r,n,h),l,c),S=a&&s?.length===0;return _(()=>o(S),[S]),{text:r,labels:n,series:s,counts:u,error:d??b,empty:S}}function Ze({
finder:t,chosen:r}){let{text:n,labels:a,series:i,counts:o,error:l}=t,[c,s]=v(n),d=q(n);_(()=>{n!==d.current&&(d.current=n,s(n))},[n]),_(()=>{if(c===d.current)return;let p=setTimeout(()=>{d.current=c,x(
{find:c||null},!0)},150);return()=>clearTimeout(p)},[c]);let u=new Set(r.map(p=>p.id)),b=p=>{let j=r.map(M=>M.id);x({q:null,lang:null,m:j.includes(p.id)?j.filter(M=>M!==p.id):[...j,p.id]})},S=F(()=>i?.
map(p=>e("li",{children:e("button",{type:"button","aria-pressed":u.has(p.id),title:yt(p),onClick:()=>b(p),children:[e("span",{children:p.name}),e("small",{children:xt(p)})]})},p.id)),[i,r]),h=o?kt(o,a):
[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"search",children:[e("input",{type:"search",placeholder:"Find metrics","aria-label":"Find metrics by name",
value:c,onInput:p=>s(p.currentTarget.value)}),e("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>x({q:r.map(ue).join(" or "),m:null,agg:null,g:null}),
children:"\u0192(x)"})]}),e("div",{class:"facets",children:h.map(({name:p,values:j,counts:M})=>{let N=a.find(([k])=>k===p)?.[1]??"";return e("select",{"aria-label":He(p),"data-label":p,value:N,onChange:k=>x(
{l:[...a.filter(([I])=>I!==p),...k.currentTarget.value?[[p,k.currentTarget.value]]:[]].map(I=>I.join("="))}),children:[e("option",{value:"",children:He(p)}),N&&!M.some(k=>k.name===N)&&e("option",{value:N,
children:N}),M.map(k=>e("option",{value:k.name,children:[k.name," (",k.value.toLocaleString("en"),")"]},k.name)),j>M.length&&e("option",{disabled:!0,children:["and ",(j-M.length).toLocaleString("en"),
" more"]})]},p)})}),l&&e(w,{bad:!0,children:l}),o&&e("p",{class:"hint",id:"found",children:o.total===1?"1 metric":`${o.total.toLocaleString("en")} metrics`}),e("ul",{class:"found",children:[S,i&&o&&o.
total>i.length&&e("li",{class:"hint",children:["and ",(o.total-i.length).toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}var pe={resource_type:"Type",project_id:"Project",original_resource_id:"\
Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},He=t=>pe[t]??t,yt=t=>[t.name,t.resource,t.place[""],...Object.entries(t.labels).map(([r,n])=>`${r}=${n}`)].filter(Boolean).join(`
`),xt=t=>t.place[""]??t.labels.instance??Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??"";function kt(t,r){let n=new Set(r.map(([o])=>o)),a=Object.keys(pe).slice(0,3),i=o=>n.has(o.name)?
0:a.indexOf(o.name)+1||(o.name in pe?99:9);return t.facets.filter(o=>n.has(o.name)||o.values>1||o.counts[0].value<t.total).sort((o,l)=>i(o)-i(l)).slice(0,wt)}var St=12,_t=8,Mt=340;function Je({finder:t}){let{params:r}=P.use(),n=F(()=>zt(t.series??[]),[t.series]),a=n.flatMap(([,l])=>l),{value:i,error:o}=$(async l=>{let c=Q(r),s=await Fe(a),d=await J(s,["mea\
n"],c.from,c.to,u=>te(u,c.from,c.to,Mt),l);return{range:c,columns:new Map(d.map(u=>[u.metric.id,u]))}},[n,r.get("from")],1);return t.series?n.length?e(z,{children:[o&&e(w,{bad:!0,children:o}),e("div",
{class:"tiles",children:n.map(([l,c])=>i&&e(Ct,{name:l,columns:c.flatMap(s=>i.columns.get(s.id)??[]),range:i.range},c[0].id))})]}):e(w,{children:"No metric is called like that."}):t.error?null:e(w,{children:"\
Looking for metrics \u2026"})}function zt(t){let r=new Map;for(let i of t){let o=i.resource+"/"+i.name.replace(/\d+/g,"#"),l=r.get(o)??[];if(l.length<_t&&r.set(o,[...l,i]),r.size>St){r.delete(o);break}}
let n=[...r.values()],a=Z(n.map(i=>({...i[0],name:i.length>1?i[0].name.replace(/\d+/g,"*"):i[0].name})));return n.map((i,o)=>[a[o],i])}function Ct({name:t,columns:r,range:n}){if(!r.length)return null;
let a=ee(t,r[0].metric.unit),i=Z(r.map(c=>c.metric)),o=r.map((c,s)=>({label:i[s],color:s,times:c.times,values:Object.values(c.values)[0]??[],step:c.item.granularity})),l=o.map(c=>c.values.at(-1)).filter(
c=>c!=null);return e("a",{class:"panel tile",href:A("explore",{m:r.map(c=>c.metric.id)}),"data-name":t,children:[e("header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[l.slice(
0,3).map(c=>f(c,a,3)).join(" \xB7 "),l.length>3&&" \u2026"]})]}),e(B,{lines:o,from:n.from,to:n.to,height:130,unit:a,zone:L(),title:t,small:!0})]})}var $t=T(()=>import("./more-CHO3FYKE.js").then(t=>t.First)),Pt=T(()=>import("./more-CHO3FYKE.js").then(t=>t.QueryView));function Ke(){let{params:t}=P.use(),r=Qe(t),n=t.getAll("m"),a=n.join(),
[i,o]=v([]),[l,c]=v("");_(()=>{let d=!0;return c(""),Promise.allSettled(n.map(Ee)).then(u=>{if(!d)return;o(u.flatMap(S=>S.status==="fulfilled"?[S.value]:[]));let b=u.find(S=>S.status==="rejected");b&&
c(b.reason.message)}),()=>{d=!1}},[a]);let s=F(()=>i.filter(d=>n.includes(d.id)),[i,a]);return r.empty?e($t,{}):e("div",{class:"split",children:[e(Ze,{finder:r,chosen:s}),e("div",{children:[l&&e(w,{bad:!0,
children:l}),t.has("q")?e(Pt,{}):n.length?s.length>0&&e(Ve,{metrics:s}):e(Je,{finder:r})]})]})}function Ye(t){let r=[];for(let n of t.split(`
`)){if(!n||n.startsWith("#"))continue;let a=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(n);if(!a)continue;let i={};for(let[,o,l]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))i[o]=l.replace(/\\(.)/g,
(c,s)=>s==="n"?`
`:s);r.push({name:a[1],labels:i,value:Number(a[3])})}return r}function y(t,r,n={}){let a=t.filter(i=>i.name===r&&Object.entries(n).every(([o,l])=>i.labels[o]===l));return a.length?a.reduce((i,o)=>i+o.
value,0):null}var Rt={none:"none",up:"GPU",down:"GPU, out of use"},ae=2,Xe=150;function et(){let t=$(s=>Ce("/v1/status?details=false",void 0,s),[],ae),r=$(async s=>({time:Date.now()/1e3,samples:Ye(await(await ze("G\
ET","/metrics",void 0,s)).text())}),[],ae),n=q([]),a=q([]),[,i]=v(0);_(()=>{r.value&&(n.current=[...n.current,r.value].slice(-Xe),i(s=>s+1))},[r.value]),_(()=>{t.value?.cluster&&(a.current=[...a.current,
t.value.cluster.members].slice(-1-tt),i(s=>s+1))},[t.value]);let o=r.value?.samples,l=t.value?.cluster,c=L();return e(z,{children:[r.error&&e(w,{bad:!0,children:r.error}),t.error&&e(w,{children:[t.error,
": who holds what is shown to administrators only."]}),l?.damaged.map(s=>e(w,{bad:!0,children:[s.name," is damaged since ",s.since,": ",s.reason]},s.name)),l&&l.members.length>1&&e(R,{title:"The clust\
er",aside:e("span",{children:[l.members.length," processes",l.silent?.length?", silent: "+l.silent.join(", "):""]}),children:e("dl",{class:"figures",children:[e(C,{id:"all-accepted",name:"Measures acc\
epted",value:U(ne(l.members.map(s=>re(a.current,s.id,"accepted")))),about:f(ne(l.members.map(s=>s.figures?.accepted??null)),"",12)+" in all"}),e(C,{id:"all-processed",name:"Measures processed",value:U(
ne(l.members.map(s=>re(a.current,s.id,"processed")))),about:f(ne(l.members.map(s=>s.figures?.processed??null)),"",12)+" in all"}),e(C,{id:"all-backlog",name:"Backlog",value:f(l.sacks.reduce((s,d)=>s+d.
measures,0)),about:"lag "+f(Math.max(0,...l.sacks.map(s=>s.seconds)),"seconds",3)})]})}),o&&e(z,{children:[e(R,{title:"This process",aside:e("span",{children:["version ",o.find(s=>s.name==="gnocco_bui\
ld_info")?.labels.version,", up ",O(Math.round(Date.now()/1e3-(y(o,"process_start_time_seconds")??0)))]}),children:e("dl",{class:"figures",children:[e(C,{id:"accepted",name:"Measures accepted",value:U(
K(n.current,"gnocco_incoming_measures_total")),about:f(y(o,"gnocco_incoming_measures_total"),"",12)+" in all"}),e(C,{id:"processed",name:"Measures processed",value:U(K(n.current,"gnocco_metricd_measur\
es_processed_total"))}),e(C,{id:"backlog",name:"Backlog",value:f(y(o,"gnocco_incoming_backlog_measures")),about:"lag "+f(Math.max(0,y(o,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e(C,{id:"\
metrics",name:"Metrics",value:f(y(o,"gnocco_index_metrics"),"",12)}),e(C,{id:"requests",name:"Requests",value:U(K(n.current,"gnocco_http_requests_total")),about:f(y(o,"gnocco_http_connections"))+" con\
nections"}),e(C,{id:"cpu",name:"Processor",value:Tt(K(n.current,"process_cpu_seconds_total")),about:"of one core"}),e(C,{id:"dropped",name:"Measures too old",value:f(y(o,"gnocco_metricd_measures_dropp\
ed_total",{reason:"too_old"}),"",12),about:"since the start"}),e(C,{id:"device",name:"Device",value:jt(o)})]})}),e("div",{class:"two",children:[e(R,{title:"Measures a second",children:e(Nt,{history:n.
current,zone:c})}),e(R,{title:"Memory and disk",children:e(Ft,{samples:o})})]}),e(R,{title:"Backlog by sack",aside:e("span",{children:[rt(o).length," sacks held here; a full cell is the longest backlo\
g"]}),children:e(Lt,{samples:o})})]}),l&&e(R,{title:"Members",aside:l.silent?.length?e("span",{children:["silent: ",l.silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"\
members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"\
number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Ve\
rsion"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:l.members.map(s=>e("tr",{"data-member":s.id,children:[e("td",{class:"mono",children:s.id}),e("td",{class:"mono",children:s.address}),
e("td",{children:s.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:U(re(a.current,s.id,"accepted"))}),e("td",{class:"number","data-figure":"processed",children:U(re(a.current,
s.id,"processed"))}),e("td",{"data-figure":"memory",children:s.figures?f(s.figures.memory,"bytes",3)+" of "+f(s.figures.memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:s.figures?
Rt[s.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:s.figures?.version??"\u2013"}),e("td",{children:Ot(l.claims.filter(d=>d.member===s.id).map(d=>d.name))})]},s.id))})]})})})]})}var tt=5;
function re(t,r,n){let a=t.map(l=>l.find(c=>c.id===r)?.figures).filter(l=>l!==void 0),i=a[0],o=a.at(-1);return i&&o&&o.uptime>i.uptime?(o[n]-i[n])/(o.uptime-i.uptime):null}function ne(t){let r=t.filter(
n=>n!==null);return r.length?r.reduce((n,a)=>n+a,0):null}function K(t,r,n=tt){let a=t.at(-1),i=t.at(-1-n)??t[0];if(!a||a===i)return null;let o=y(i.samples,r),l=y(a.samples,r);return o===null||l===null||
l<o?null:(l-o)/(a.time-i.time)}var U=t=>t===null?"\u2013":f(t,"",3)+" /s",Tt=t=>t===null?"\u2013":f(100*t,"percent",3);function jt(t){return t.filter(n=>n.name.startsWith("gnocco_gpu_")).length?(y(t,"\
gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function Nt({history:t,zone:r}){let n=(i,o,l)=>{let c=[],s=[];for(let d=1;d<t.length;d++)c.push(t[d].time),s.push(K(t.slice(0,d+1),o,1));return{label:i,
color:l,times:c,values:s,step:ae*2}},a=t.at(-1)?.time??Date.now()/1e3;return e(B,{lines:[n("accepted","gnocco_incoming_measures_total",0),n("processed","gnocco_metricd_measures_processed_total",1)],from:a-
ae*Xe,to:a,height:180,unit:"",zone:r,title:"Measures a second"})}var Et=["index","incoming","sacks"];function Ft({samples:t}){let r=y(t,"process_resident_memory_bytes")??0,n=y(t,"go_gc_gomemlimit_byte\
s")??0,a=y(t,"gnocco_memory_used_bytes")??0,i=y(t,"gnocco_memory_budget_bytes")??0,o=Et.map(c=>[c,y(t,"gnocco_store_disk_bytes",{store:c})??0]),l=Math.max(1,...o.map(([,c])=>c));return e(z,{children:[
e(ge,{id:"memory",name:"Memory of the process",value:r,of:n<1e18?n:0}),e(ge,{id:"budget",name:"Held by requests",value:a,of:i}),o.map(([c,s])=>e(ge,{id:"disk-"+c,name:"Disk: "+c,value:s,share:s/l},c))]})}
function ge({id:t,name:r,value:n,of:a,share:i}){return e("div",{id:t,"data-value":n,children:[e("div",{class:"aside",children:[e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[f(n,"by\
tes",3),a?" of "+f(a,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,i??(a?n/a:0))+"%"}})})]})}var rt=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort(
(r,n)=>+r.labels.sack-+n.labels.sack);function Lt({samples:t}){let r=rt(t),n=Math.max(1,...r.map(a=>a.value));return e("div",{class:"strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${f(Math.
max(0,...r.map(a=>a.value)))} at most`,children:r.map(a=>e("i",{"data-sack":a.labels.sack,"data-value":a.value,title:`sack ${a.labels.sack}: ${f(a.value)} measures wait, ${f(y(t,"gnocco_sack_backlog_a\
ge_seconds",{sack:a.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*a.value/n)}%, var(--accent-soft))`}},a.labels.sack))})}function Ot(t){let r=t.filter(
i=>i.startsWith("sacks/")).map(i=>+i.slice(6)).sort((i,o)=>i-o),n=[];for(let i=0;i<r.length;i++){let o=i;for(;r[o+1]===r[o]+1;)o++;n.push(o>i?`${r[i]}\u2013${r[o]}`:`${r[i]}`),i=o}let a=t.filter(i=>!i.
startsWith("sacks/")).map(i=>i.startsWith("incoming/")?"an incoming store":"the "+i);return[...new Set(a),...n.length?[(r.length===1?"sack ":"sacks ")+n.join(", ")]:[]].join(", ")||"nothing"}var nt=[{name:"explore",title:"Explore",page:Ke},{name:"policies",title:"Policies",page:T(()=>import("./more-CHO3FYKE.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:T(
()=>import("./more-CHO3FYKE.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:et},{name:"metric",page:T(()=>import("./more-CHO3FYKE.js").then(t=>t.MetricPage))}],qt=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function At(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=L(),n=[...new Set([t,r,...qt])];return e("select",{"aria-label":"Time zone",value:r,onChange:a=>x({tz:a.currentTarget.value===t?null:a.currentTarget.value}),children:n.map(a=>e("option",{value:a,
children:a.replaceAll("_"," ")},a))})}var fe=null;document.addEventListener("focusin",t=>{fe=t.target});function Ut(){let t=P.use(),r=X.use(),n=ke.use(),a=je.use(),[i,o]=v("");_(()=>{Dt.then(o)},[]);let l=nt.
find(d=>d.name===t.page),c=l?.page;_(()=>{document.title=(l?.title??"Metric")+" \xB7 Gnocco"},[l]);let s=q(t.page);return xe(()=>{(t.page!==s.current||fe&&!fe.isConnected)&&ce(),s.current=t.page},[t]),
e(z,{children:[e("a",{class:"skip",href:"#main",onClick:d=>{d.preventDefault(),ce()},children:"To the content"}),e("header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("im\
g",{src:"icon.svg",alt:"",width:"22",height:"22"}),"Gnocco"]}),e("nav",{"aria-label":"Pages",children:nt.map(d=>d.title&&e("a",{href:A(d.name),"aria-current":d.name===t.page?"page":void 0,children:d.title},
d.name))}),e("div",{class:"settings",children:[e(At,{}),e("button",{type:"button",class:"icon","aria-label":a==="dark"?"Light colours":"Dark colours",title:a==="dark"?"Light colours":"Dark colours",onClick:Ne,
children:a==="dark"?"\u2600":"\u263E"}),r&&r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:Me,title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,
children:[i&&e(w,{bad:!0,children:i}),n&&e(Ie,{}),r&&!n&&l?.title&&e($e,{hidden:!0,children:l.title},l.name),r&&!n&&(c?e(c,{},t.page+r.user):e(w,{children:["There is no page of this name. ",e("a",{href:A(
"explore"),children:"Explore"})," is where to begin."]}))]})]})}var Dt=Se().then(()=>"",()=>"The server does not answer. Load the page again when it does.");P.get().page!=="explore"&&P.get().page!=="s\
erver"&&import("./more-CHO3FYKE.js").catch(()=>{});ye(e(Ut,{}),document.getElementById("app"));
