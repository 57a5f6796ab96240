import"./chunk-NQRK2HBV.js";import{A as Oe,B as Fe,C as qe,D as ne,E as K,G as Ue,H as Ae,I as De,J as W,K as Be,L as Ie,M as We,a as re,b as h,c as E,e as de,g as e,h as y,i as ue,j as Re,k as j,
l as z,m as Q,n as je,o as Ne,p as P,q as O,r as A,s as k,t as Z,u as F,v as Le,y as Ee,z as J}from"./chunk-NDLIMJOY.js";import{b as _,c as Me,d as v,e as M,f as I,g as U,h as R,j as te,k as ze,
m as Ce,n as $e,o as me,p as Pe,q as Te}from"./chunk-X6CYITXK.js";import{h as ce,s as ke,t as Se,w as _e}from"./chunk-6HXGSEI3.js";var Ge="./icon-CQTSC6ED.svg";function Ve(){let t=te.use(),[r,o]=v(""),[a,n]=v(""),[i,l]=v(""),[c,s]=v(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await Ce(t.credentials,
c?"":r,a)}catch(f){l(f.status===401?"These are not known here.":f.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!i&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),i&&e("p",{class:"notice bad",role:"alert",children:i}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:u=>o(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:a,onInput:u=>n(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>s(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function N(t){let r;return function(){let[,a]=v(0),[n,i]=v(!1);I(()=>{r||t().then(c=>{r=c,a(1)},()=>i(!0))},[]);let l=r;return l?e(l,{}):n?e(y,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var gt=N(()=>import("./lazy_pages-WLBWUPXE.js").then(t=>t.Changed)),ft=4,ht=5e3;function Ze({metrics:t}){let{params:r}=O.use(),[o]=v(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),a=r.get("agg")??"mean",n=r.get("g"),i=t.length<=ft,l=i&&a==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(g=>/^[\d.]+pct$/.test(g))))].sort((m,g)=>parseFloat(m)-parseFloat(g)),s={cmp:!0,
pct:i&&c.length>0,raw:i},d=m=>s[m]&&r.get(m)==="1",u=Z(r),f=m=>n&&m.items.find(g=>g.granularity===+n)||ne(m,u.from,u.to,o),b=Math.min(...t.map(m=>f(m.policy).granularity)),{value:w,error:X,loading:p}=P(
async m=>{let g=Z(r),{from:B,to:we,span:ye}=g,ct=[a,...l?["min","max"]:[],...d("pct")?c:[]],xe=d("raw")&&t.some(le=>ye/le.policy.items[0].granularity>ht),[mt,dt,ut]=await Promise.all([K(t,ct,B,we,f,m),
d("cmp")?K(t,[a],B-ye,B,f,m):[],d("raw")&&!xe?Promise.all(t.map(le=>Ue(le.id,B,we,m))):[]]);return{range:g,columns:mt,before:dt,raw:ut,method:a,tooMany:xe}},[t,a,n,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],u.live?Math.min(30,Math.max(1,b)):0),C=R(()=>w?yt(w):[],[w]),$=R(()=>C.map(m=>l&&!m.derived?{...m,low:w.columns[m.color].values.min,high:w.columns[m.color].values.max}:m),[C,l]),
T=[...new Set(t.flatMap(m=>m.policy.methods))].sort((m,g)=>He(m)-He(g)||m.localeCompare(g,"en",{numeric:!0})),S=[...new Set(t.flatMap(m=>m.policy.items.map(g=>g.granularity)))].sort((m,g)=>m-g),q=re(t[0].
name??"",t[0].unit),G=F(),ee=r.get("view")==="table",V=Le(r),H=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,L=w?.range??u,ve=(m,g)=>k({from:String(Math.floor(m)),to:String(Math.ceil(g))}),se=(m,g,B)=>s[m]&&
e("button",{type:"button","aria-pressed":d(m),title:B,onClick:()=>k({[m]:d(m)?null:"1"}),children:g});return e(_,{children:[e(Be,{range:L,children:[e("label",{class:"aside",children:["Show"," ",e("sel\
ect",{"aria-label":"Aggregation method",value:a,onChange:m=>k({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(T.includes(a)?T:[a,...T]).map(m=>e("option",{children:m},m))})]}),
e("label",{class:"aside",children:["of"," ",e("select",{"aria-label":"Granularity",value:n??"",onChange:m=>k({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),S.map(
m=>e("option",{value:String(m),children:E(m)},m))]})]})]}),X&&e(y,{bad:!0,children:X}),e(j,{title:H,id:"drawn",aside:e(_,{children:[se("cmp","Before",`Compare with the ${E(Math.round(L.span))} before`),
se("pct","Percentiles",c.join(", ")),se("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!V,title:"Mark a time, and see which metrics moved most",onClick:()=>k(
{w:V?null:vt(L)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":ee,onClick:()=>k({view:ee?null:"table"}),children:"Table"}),e(Ne,{title:"Copy",children:[e(kt,{metrics:t,columns:w?.
columns,method:a,range:L}),!ee&&e("button",{type:"button",onClick:()=>{import("./lazy_pages-WLBWUPXE.js").then(({picture:m})=>m("drawn",H,$,`${de(L.from,G)} \u2013 ${de(L.to,G)} ${G}`)).then(m=>je(m,
H+".png"))},children:"PNG"})]})]}),children:[w&&e("p",{class:"hint",id:"archive","data-from":w.range.from,children:xt(w)}),w&&(ee?e(We,{rows:C,unit:q,zone:G,name:H}):e(W,{lines:$,from:L.from,to:L.to,height:340,
unit:q,zone:G,title:H,shades:wt(V),onZoom:(m,g)=>V?k({w:`${Math.floor(m)}-${Math.ceil(g)}`}):ve(m,g),onPan:ve})),!w&&p&&e("p",{class:"hint",children:"Reading \u2026"})]}),V&&e(gt,{}),w&&e(Ie,{rows:C,unit:q,
onRemove:m=>k({m:t.map(g=>g.id).filter(g=>g!==m)}),href:m=>A("metric",{id:m})})]})}var bt=["mean","max","min","sum","count","last","first","median","std"],He=t=>bt.indexOf(t)+1||99,vt=({from:t,to:r})=>`${Math.
floor(r-(r-t)/3)}-${Math.ceil(r)}`,wt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function yt({range:t,columns:r,before:o,raw:a,method:n}){let i=J(r.map(c=>c.metric)),l=r.map((c,s)=>Qe(c,s,n,i[s]));
return r.forEach((c,s)=>{let{id:d,label:u}=l[s];for(let[f,b]of Object.entries(c.values))f!==n&&/pct$/.test(f)&&l.push({...l[s],id:d+f,label:`${u} ${f}`,values:b,look:"dotted",derived:!0});o[s]&&l.push(
{...Qe(o[s],s,n,i[s]),id:d+"before",label:`${u}, ${E(Math.round(t.span))} before`,times:o[s].times.map(f=>f+t.span),look:"dashed",derived:!0}),a[s]?.times.length&&l.push({...l[s],id:d+"raw",label:`${u}\
, measures`,...a[s],look:"dots",derived:!0})}),l}function Qe(t,r,o,a){let[n,i]=o in t.values?[o,t.values[o]]:Object.entries(t.values)[0]??[o,[]];return{id:t.metric.id,label:a+(n===o?"":` (${n})`),color:r,
times:t.times,values:i,step:t.item.granularity}}function xt({columns:t,method:r,raw:o,tooMany:a}){let n=new Set(t.map(l=>`${r in l.values?r:Object.keys(l.values)[0]??r} of ${E(l.item.granularity)}, ke\
pt for ${E(l.item.timespan)} (archive policy ${l.metric.policy.name})`)),i=o.length?o.some(l=>l.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this ti\
me":"";return"Drawn from "+[...n].join("; ")+(a?"; zoom in to see raw measures":i)}function kt({metrics:t,columns:r,method:o,range:a}){let n=Math.floor(a.from),i=Math.ceil(a.to),l=t[0],c=r?.[0]?.item.
granularity??l.policy.items[0].granularity,s=`start=${n}&stop=${i}&granularity=${c}&aggregation=${encodeURIComponent(o)}`,d=u=>t.map(u).join(`
`);return e(_,{children:[e(Q,{label:"curl",title:"Copy as curl",text:d(u=>`curl -u USER: '${me(`/v1/metric/${u.id}/measures?${s}`)}'`)}),e(Q,{label:"Python",title:"Copy as Python",text:St(t.map(u=>u.id),
s)}),e(Q,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(u=>`gnocchi measures show ${u.id} --aggregation ${o} --granularity ${c} --start ${n} --stop ${i}`)}),e(Q,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(pe).join(" or ")})]})}var St=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(me("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,pe=t=>`{${[ce(t.name??""),...t.resource?[`resource_id=${ce(t.resource)}`]:[]].join(", ")}}`;var _t=6;function Ke(t){let{text:r,labels:o}=_e(t),a=!r&&!o.length&&!t.has("m")&&!t.has("q"),[n,i]=v(!1),l=[r,o.join(`
`)],c=n?1:15,{value:s,error:d}=P(w=>qe(r,o,w),l,c),{value:u,error:f}=P(w=>Fe(r,o,w),l,c),b=a&&s?.length===0;return M(()=>i(b),[b]),{text:r,labels:o,series:s,counts:u,error:d??f,empty:b}}function Ye({finder:t,
chosen:r}){let{text:o,labels:a,series:n,counts:i,error:l}=t,[c,s]=v(o),d=U(o);M(()=>{o!==d.current&&(d.current=o,s(o))},[o]),M(()=>{if(c===d.current)return;let p=setTimeout(()=>{d.current=c,k({find:c||
null},!0)},150);return()=>clearTimeout(p)},[c]);let u=new Set(r.map(p=>p.id)),f=p=>{let C=r.map($=>$.id);k({q:null,lang:null,m:C.includes(p.id)?C.filter($=>$!==p.id):[...C,p.id]})},b=Mt(o+`
`+a.join(`
`),n?.length??0),w=R(()=>n?.slice(0,b).map(p=>e("li",{children:e("button",{type:"button","aria-pressed":u.has(p.id),title:Ct(p),onClick:()=>f(p),children:[e("span",{children:p.name}),e("small",{children:$t(
p)})]})},p.id)),[n,r,b]),X=i?Pt(i,a):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"search",children:[e("input",{type:"search",placeholder:"Find metric\
s","aria-label":"Find metrics by name",value:c,onInput:p=>s(p.currentTarget.value)}),e("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>k({q:r.map(pe).
join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:X.map(({name:p,values:C,counts:$})=>{let T=a.find(([S])=>S===p)?.[1]??"";return e("select",{"aria-label":Je(
p),"data-label":p,value:T,onChange:S=>k({l:[...a.filter(([q])=>q!==p),...S.currentTarget.value?[[p,S.currentTarget.value]]:[]].map(q=>q.join("="))}),children:[e("option",{value:"",children:Je(p)}),T&&
!$.some(S=>S.name===T)&&e("option",{value:T,children:T}),$.map(S=>e("option",{value:S.name,children:[S.name," (",S.value.toLocaleString("en"),")"]},S.name)),C>$.length&&e("option",{disabled:!0,children:[
"and ",(C-$.length).toLocaleString("en")," more"]})]},p)})}),l&&e(y,{bad:!0,children:l}),i&&e("p",{class:"hint",id:"found",children:i.total===1?"1 metric":`${i.total.toLocaleString("en")} metrics`}),e(
"ul",{class:"found",children:[w,n&&i&&b>=n.length&&i.total>n.length&&e("li",{class:"hint",children:["and ",(i.total-n.length).toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}function Mt(t,r){
let[o,a]=v({of:t,lines:ge}),n=o.of===t?o.lines:ge;return M(()=>{if(n>=r)return;let i=0,l=setTimeout(()=>{i=requestIdleCallback(()=>a({of:t,lines:n+zt}),{timeout:1e3})},n===ge?250:0);return()=>{clearTimeout(
l),cancelIdleCallback(i)}},[t,n,r]),n}var ge=40,zt=65,fe={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},Je=t=>fe[t]??t,Ct=t=>[
t.name,t.resource,t.place[""],...Object.entries(t.labels).map(([r,o])=>`${r}=${o}`)].filter(Boolean).join(`
`),$t=t=>t.place[""]??t.labels.instance??Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??"";function Pt(t,r){let o=new Set(r.map(([i])=>i)),a=Object.keys(fe).slice(0,3),n=i=>o.has(i.name)?
0:a.indexOf(i.name)+1||(i.name in fe?99:9);return t.facets.filter(i=>o.has(i.name)||i.values>1||i.counts[0].value<t.total).sort((i,l)=>n(i)-n(l)).slice(0,_t)}var Xe=12,Tt=3,Rt=8,jt=340;function et({finder:t}){let{params:r}=O.use(),o=R(()=>Nt(t.series??[]),[t.series]),a=o.flatMap(([,s])=>s),{value:n,error:i}=P(async s=>{let d=Z(r),u=await Oe(a),f=await K(u,
["mean"],d.from,d.to,b=>ne(b,d.from,d.to,jt),s);return{range:d,columns:new Map(f.map(b=>[b.metric.id,b]))}},[o,r.get("from")],1),[l,c]=v(!1);return M(()=>{if(!n||l)return;let s=setTimeout(()=>c(!0));return()=>clearTimeout(
s)},[n,l]),t.series?o.length?e(_,{children:[i&&e(y,{bad:!0,children:i}),e("div",{class:"tiles",children:o.slice(0,l?Xe:Tt).map(([s,d])=>n&&e(Lt,{name:s,columns:d.flatMap(u=>n.columns.get(u.id)??[]),range:n.
range},d[0].id))})]}):e(y,{children:"No metric is called like that."}):t.error?null:e(y,{children:"Looking for metrics \u2026"})}function Nt(t){let r=new Map;for(let n of t){let i=n.resource+"/"+n.name.
replace(/\d+/g,"#"),l=r.get(i)??[];if(l.length<Rt&&r.set(i,[...l,n]),r.size>Xe){r.delete(i);break}}let o=[...r.values()],a=J(o.map(n=>({...n[0],name:n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name})));
return o.map((n,i)=>[a[i],n])}function Lt({name:t,columns:r,range:o}){if(!r.length)return null;let a=re(t,r[0].metric.unit),n=J(r.map(c=>c.metric)),i=r.map((c,s)=>({label:n[s],color:s,times:c.times,values:Object.
values(c.values)[0]??[],step:c.item.granularity})),l=i.map(c=>c.values.at(-1)).filter(c=>c!=null);return e("a",{class:"panel tile",href:A("explore",{m:r.map(c=>c.metric.id)}),"data-name":t,children:[e(
"header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[l.slice(0,3).map(c=>h(c,a,3)).join(" \xB7 "),l.length>3&&" \u2026"]})]}),e(W,{lines:i,from:o.from,to:o.to,height:130,unit:a,
zone:F(),title:t,small:!0})]})}var Et=N(()=>import("./lazy_pages-WLBWUPXE.js").then(t=>t.First)),Ot=N(()=>import("./lazy_pages-WLBWUPXE.js").then(t=>t.QueryView));function tt(){let{params:t}=O.use(),r=Ke(t),o=t.getAll("m"),a=o.join(),
[n,i]=v([]),[l,c]=v("");I(()=>{let d=!0;return c(""),Ee(o).then(u=>{if(!d)return;i(u.flatMap(b=>b.status==="fulfilled"?[b.value]:[]));let f=u.find(b=>b.status==="rejected");f&&c(f.reason.message)}),()=>{
d=!1}},[a]);let s=R(()=>n.filter(d=>o.includes(d.id)),[n,a]);return r.empty?e(Et,{}):e("div",{class:"split",children:[e(Ye,{finder:r,chosen:s}),e("div",{children:[l&&e(y,{bad:!0,children:l}),t.has("q")?
e(Ot,{}):o.length?s.length>0&&e(Ze,{metrics:s}):e(et,{finder:r})]})]})}function rt(t){let r=[];for(let o of t.split(`
`)){if(!o||o.startsWith("#"))continue;let a=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(o);if(!a)continue;let n={};for(let[,i,l]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))n[i]=l.replace(/\\(.)/g,
(c,s)=>s==="n"?`
`:s);r.push({name:a[1],labels:n,value:Number(a[3])})}return r}function x(t,r,o={}){let a=t.filter(n=>n.name===r&&Object.entries(o).every(([i,l])=>n.labels[i]===l));return a.length?a.reduce((n,i)=>n+i.
value,0):null}var nt={damaged:"is damaged",missing:"is missing",later:"was written by a later version",unopened:"could not be opened"},Ft={none:"none",up:"GPU",down:"GPU, out of use"},ie=2,ot=150;function at(){let t=P(
s=>Te(ke,void 0,s),[],ie),r=P(async s=>({time:Date.now()/1e3,samples:rt(await(await Pe("GET",Se,void 0,s)).text())}),[],ie),o=U([]),a=U([]),[,n]=v(0);M(()=>{r.value&&(o.current=[...o.current,r.value].
slice(-ot),n(s=>s+1))},[r.value]),M(()=>{t.value?.cluster&&(a.current=[...a.current,t.value.cluster.members].slice(-1-it),n(s=>s+1))},[t.value]);let i=r.value?.samples,l=t.value?.cluster,c=F();return e(
_,{children:[r.error&&e(y,{bad:!0,children:r.error}),t.error&&e(y,{children:[t.error,": who holds what is shown to administrators only."]}),l?.damaged.map(s=>e(y,{bad:!0,children:[s.name," ",nt[s.fault]??
nt.damaged," (since ",s.since,"): ",s.reason]},s.name)),l&&l.members.length>1&&e(j,{title:"The cluster",aside:e("span",{children:[l.members.length," processes",l.silent?.length?", silent: "+l.silent.join(
", "):""]}),children:e("dl",{class:"figures",children:[e(z,{id:"all-accepted",name:"Measures accepted",value:D(ae(l.members.map(s=>oe(a.current,s.id,"accepted")))),about:h(ae(l.members.map(s=>s.figures?.
accepted??null)),"",12)+" in all"}),e(z,{id:"all-processed",name:"Measures processed",value:D(ae(l.members.map(s=>oe(a.current,s.id,"processed")))),about:h(ae(l.members.map(s=>s.figures?.processed??null)),
"",12)+" in all"}),e(z,{id:"all-backlog",name:"Backlog",value:h(l.sacks.reduce((s,d)=>s+d.measures,0)),about:"lag "+h(Math.max(0,...l.sacks.map(s=>s.seconds)),"seconds",3)})]})}),i&&e(_,{children:[e(j,
{title:"This process",aside:e("span",{children:["version ",i.find(s=>s.name==="gnocco_build_info")?.labels.version,", up"," ",E(Math.round(Date.now()/1e3-(x(i,"process_start_time_seconds")??0)))]}),children:e(
"dl",{class:"figures",children:[e(z,{id:"accepted",name:"Measures accepted",value:D(Y(o.current,"gnocco_incoming_measures_total")),about:h(x(i,"gnocco_incoming_measures_total"),"",12)+" in all"}),e(z,
{id:"processed",name:"Measures processed",value:D(Y(o.current,"gnocco_metricd_measures_processed_total"))}),e(z,{id:"backlog",name:"Backlog",value:h(x(i,"gnocco_incoming_backlog_measures")),about:"lag\
 "+h(Math.max(0,x(i,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e(z,{id:"metrics",name:"Metrics",value:h(x(i,"gnocco_index_metrics"),"",12)}),e(z,{id:"requests",name:"Requests",value:D(Y(
o.current,"gnocco_http_requests_total")),about:h(x(i,"gnocco_http_connections"))+" connections"}),e(z,{id:"cpu",name:"Processor",value:qt(Y(o.current,"process_cpu_seconds_total")),about:"of one core"}),
e(z,{id:"dropped",name:"Measures too old",value:h(x(i,"gnocco_metricd_measures_dropped_total",{reason:"too_old"}),"",12),about:"since the start"}),e(z,{id:"device",name:"Device",value:Ut(i)})]})}),e("\
div",{class:"two",children:[e(j,{title:"Measures a second",children:e(At,{history:o.current,zone:c})}),e(j,{title:"Memory and disk",children:e(Bt,{samples:i})})]}),e(j,{title:"Backlog by sack",aside:e(
"span",{children:[st(i).length," sacks held here; a full cell is the longest backlog"]}),children:e(It,{samples:i})})]}),l&&e(j,{title:"Members",aside:l.silent?.length?e("span",{children:["silent: ",l.
silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",
children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"\
Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Version"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:l.members.map(s=>e("tr",{"data-member":s.id,children:[
e("td",{class:"mono",children:s.id}),e("td",{class:"mono",children:s.address}),e("td",{children:s.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:D(oe(a.current,s.id,"accep\
ted"))}),e("td",{class:"number","data-figure":"processed",children:D(oe(a.current,s.id,"processed"))}),e("td",{"data-figure":"memory",children:s.figures?h(s.figures.memory,"bytes",3)+" of "+h(s.figures.
memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:s.figures?Ft[s.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:s.figures?.version??"\u2013"}),e("td",{children:Wt(
l.claims.filter(d=>d.member===s.id).map(d=>d.name))})]},s.id))})]})})})]})}var it=5;function oe(t,r,o){let a=t.map(l=>l.find(c=>c.id===r)?.figures).filter(l=>l!==void 0),n=a[0],i=a.at(-1);return n&&i&&
i.uptime>n.uptime?(i[o]-n[o])/(i.uptime-n.uptime):null}function ae(t){let r=t.filter(o=>o!==null);return r.length?r.reduce((o,a)=>o+a,0):null}function Y(t,r,o=it){let a=t.at(-1),n=t.at(-1-o)??t[0];if(!a||
a===n)return null;let i=x(n.samples,r),l=x(a.samples,r);return i===null||l===null||l<i?null:(l-i)/(a.time-n.time)}var D=t=>t===null?"\u2013":h(t,"",3)+" /s",qt=t=>t===null?"\u2013":h(100*t,"percent",3);
function Ut(t){return t.filter(o=>o.name.startsWith("gnocco_gpu_")).length?(x(t,"gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function At({history:t,zone:r}){let o=(n,i,l)=>{let c=[],s=[];for(let d=1;d<
t.length;d++)c.push(t[d].time),s.push(Y(t.slice(0,d+1),i,1));return{label:n,color:l,times:c,values:s,step:ie*2}},a=t.at(-1)?.time??Date.now()/1e3;return e(W,{lines:[o("accepted","gnocco_incoming_measu\
res_total",0),o("processed","gnocco_metricd_measures_processed_total",1)],from:a-ie*ot,to:a,height:180,unit:"",zone:r,title:"Measures a second"})}var Dt=["index","incoming","sacks"];function Bt({samples:t}){
let r=x(t,"process_resident_memory_bytes")??0,o=x(t,"go_gc_gomemlimit_bytes")??0,a=x(t,"gnocco_memory_used_bytes")??0,n=x(t,"gnocco_memory_budget_bytes")??0,i=Dt.map(c=>[c,x(t,"gnocco_store_disk_bytes",
{store:c})??0]),l=Math.max(1,...i.map(([,c])=>c));return e(_,{children:[e(he,{id:"memory",name:"Memory of the process",value:r,of:o<1e18?o:0}),e(he,{id:"budget",name:"Held by requests",value:a,of:n}),
i.map(([c,s])=>e(he,{id:"disk-"+c,name:"Disk: "+c,value:s,share:s/l},c))]})}function he({id:t,name:r,value:o,of:a,share:n}){return e("div",{id:t,"data-value":o,children:[e("div",{class:"aside",children:[
e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[h(o,"bytes",3),a?" of "+h(a,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,n??(a?o/a:0))+"%"}})})]})}
var st=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort((r,o)=>+r.labels.sack-+o.labels.sack);function It({samples:t}){let r=st(t),o=Math.max(1,...r.map(a=>a.value));return e("div",{class:"\
strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${h(Math.max(0,...r.map(a=>a.value)))} at most`,children:r.map(a=>e("i",{"data-sack":a.labels.sack,"data-value":a.value,title:`sack ${a.labels.
sack}: ${h(a.value)} measures wait, ${h(x(t,"gnocco_sack_backlog_age_seconds",{sack:a.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*a.value/o)}%, var(\
--accent-soft))`}},a.labels.sack))})}function Wt(t){let r=t.filter(n=>n.startsWith("sacks/")).map(n=>+n.slice(6)).sort((n,i)=>n-i),o=[];for(let n=0;n<r.length;n++){let i=n;for(;r[i+1]===r[i]+1;)i++;o.
push(i>n?`${r[n]}\u2013${r[i]}`:`${r[n]}`),n=i}let a=t.filter(n=>!n.startsWith("sacks/")).map(n=>n.startsWith("incoming/")?"an incoming store":"the "+n);return[...new Set(a),...o.length?[(r.length===1?
"sack ":"sacks ")+o.join(", ")]:[]].join(", ")||"nothing"}var lt=[{name:"explore",title:"Explore",page:tt},{name:"policies",title:"Policies",page:N(()=>import("./lazy_pages-WLBWUPXE.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:N(
()=>import("./lazy_pages-WLBWUPXE.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:at},{name:"metric",page:N(()=>import("./lazy_pages-WLBWUPXE.js").then(t=>t.MetricPage))}],Gt=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function Vt(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=F(),o=[...new Set([t,r,...Gt])];return e("select",{"aria-label":"Time zone",value:r,onChange:a=>k({tz:a.currentTarget.value===t?null:a.currentTarget.value}),children:o.map(a=>e("option",{value:a,
children:a.replaceAll("_"," ")},a))})}var be=null;document.addEventListener("focusin",t=>{be=t.target});function Ht(){let t=O.use(),r=te.use(),o=ze.use(),a=Ae.use(),n=lt.find(c=>c.name===t.page),i=n?.
page;M(()=>{document.title=(n?.title??"Metric")+" \xB7 Gnocco"},[n]);let l=U(t.page);return I(()=>{(t.page!==l.current||be&&!be.isConnected)&&ue(),l.current=t.page},[t]),e(_,{children:[e("a",{class:"s\
kip",href:"#main",onClick:c=>{c.preventDefault(),ue()},children:"To the content"}),e("header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("img",{src:Ge,alt:"",width:"22",height:"\
22"}),"Gnocco"]}),e("nav",{"aria-label":"Pages",children:lt.map(c=>c.title&&e("a",{href:A(c.name),"aria-current":c.name===t.page?"page":void 0,children:c.title},c.name))}),e("div",{class:"settings",children:[
e(Vt,{}),e("button",{type:"button",class:"icon","aria-label":a==="dark"?"Light colours":"Dark colours",title:a==="dark"?"Light colours":"Dark colours",onClick:De,children:a==="dark"?"\u2600":"\u263E"}),
r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:$e,title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,children:[o&&e(Ve,{}),!o&&n?.title&&e(Re,{
hidden:!0,children:n.title},n.name),!o&&(i?e(i,{},t.page+r.user):e(y,{children:["There is no page of this name. ",e("a",{href:A("explore"),children:"Explore"})," is where to begin."]}))]})]})}Me(e(Ht,
{}),document.getElementById("app"));
