import{a as e,b,c as P,d as C,e as I,f as ke,g as Se,h as $,i as N,j as F,k as w,l as W,m as j,n as _e,o as ze,p as Me,q as A,r as Ne,s as je,t as Oe}from"./chunk-L7ICERTH.js";import{A as K,B as $e,
C as Te,D as ie,F as Re,G as Y,H as G,J as Pe,b as _,c as fe,d as f,e as S,g as V,h as q,j as Z,k as he,m as be,n as ve,o as we,p as ne,q as ye,r as xe,s as H,t as y,u as O,w as ae,z as Ce}from"./chunk-MRY35SJC.js";function Fe(){let t=Z.use(),[r,n]=f(""),[a,o]=f(""),[s,l]=f(""),[i,c]=f(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async d=>{d.preventDefault();try{await ve(t.credentials,
i?"":r,a)}catch(k){l(k.status===401?"These are not known here.":k.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!s&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),s&&e("p",{class:"notice bad",role:"alert",children:s}),!i&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:d=>n(d.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[i?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:a,onInput:d=>o(d.currentTarget.value),autocomplete:i?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>c(!i),children:i?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function T(t){let r;return function(){let[,a]=f(0),[o,s]=f(!1);S(()=>{r||t().then(i=>{r=i,a(1)},()=>s(!0))},[]);let l=r;return l?e(l,{}):o?e(b,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var et=T(()=>import("./more-MHEHM7KP.js").then(t=>t.Changed)),tt=4,rt=5e3;function qe({metrics:t}){let{params:r}=N.use(),[n]=f(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),a=r.get("agg")??"mean",o=r.get("g"),s=t.length<=tt,l=s&&a==="mean",i=[...new Set(t.flatMap(m=>m.policy.methods.filter(g=>/^[\d.]+pct$/.test(g))))].sort((m,g)=>parseFloat(m)-parseFloat(g)),c={cmp:!0,
pct:s&&i.length>0,raw:s},p=m=>c[m]&&r.get(m)==="1",d=W(r),k=m=>o&&m.items.find(g=>g.granularity===+o)||Y(m,d.from,d.to,n),u=Math.min(...t.map(m=>k(m.policy).granularity)),{value:h,error:z,loading:M}=$(
async m=>{let g=W(r),{from:L,to:pe,span:ue}=g,He=[a,...l?["min","max"]:[],...p("pct")?i:[]],ge=p("raw")&&t.some(oe=>ue/oe.policy.items[0].granularity>rt),[Ke,Ye,Xe]=await Promise.all([G(t,He,L,pe,k,m),
p("cmp")?G(t,[a],L-ue,L,k,m):[],p("raw")&&!ge?Promise.all(t.map(oe=>Pe(oe.id,L,pe,m))):[]]);return{range:g,columns:Ke,before:Ye,raw:Xe,method:a,tooMany:ge}},[t,a,o,...["from","to","live","cmp","pct","\
raw"].map(m=>r.get(m))],d.live?Math.min(30,Math.max(1,u)):0),x=q(()=>h?it(h):[],[h]),E=x.map(m=>l&&!m.derived?{...m,low:h.columns[m.color].values.min,high:h.columns[m.color].values.max}:m),ee=[...new Set(
t.flatMap(m=>m.policy.methods))].sort((m,g)=>Ee(m)-Ee(g)||m.localeCompare(g,"en",{numeric:!0})),Ze=[...new Set(t.flatMap(m=>m.policy.items.map(g=>g.granularity)))].sort((m,g)=>m-g),te=H(t[0].name??"",
t[0].unit),D=j(),J=r.get("view")==="table",U=_e(r),B=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,R=h?.range??d,de=(m,g)=>w({from:String(Math.floor(m)),to:String(Math.ceil(g))}),re=(m,g,L)=>c[m]&&
e("button",{type:"button","aria-pressed":p(m),title:L,onClick:()=>w({[m]:p(m)?null:"1"}),children:g});return e(_,{children:[e(Ne,{range:R,children:[e("label",{class:"aside",children:["Show ",e("select",
{"aria-label":"Aggregation method",value:a,onChange:m=>w({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(ee.includes(a)?ee:[a,...ee]).map(m=>e("option",{children:m},m))})]}),
e("label",{class:"aside",children:["of ",e("select",{"aria-label":"Granularity",value:o??"",onChange:m=>w({g:m.currentTarget.value||null}),children:[e("option",{value:"",children:"what fits"}),Ze.map(
m=>e("option",{value:String(m),children:O(m)},m))]})]})]}),z&&e(b,{bad:!0,children:z}),e(P,{title:B,id:"drawn",aside:e(_,{children:[re("cmp","Before",`Compare with the ${O(Math.round(R.span))} before`),
re("pct","Percentiles",i.join(", ")),re("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!U,title:"Mark a time, and see which metrics moved most",onClick:()=>w(
{w:U?null:nt(R)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":J,onClick:()=>w({view:J?null:"table"}),children:"Table"}),e(Se,{title:"Copy",children:[e(lt,{metrics:t,columns:h?.
columns,method:a,range:R}),!J&&e("button",{type:"button",onClick:()=>{import("./more-MHEHM7KP.js").then(({picture:m})=>m("drawn",B,E,`${ae(R.from,D)} \u2013 ${ae(R.to,D)} ${D}`)).then(m=>ke(m,B+
".png"))},children:"PNG"})]})]}),children:[h&&e("p",{class:"hint",id:"archive",children:st(h)}),h&&(J?e(Oe,{rows:x,unit:te,zone:D,name:B}):e(A,{lines:E,from:R.from,to:R.to,height:340,unit:te,zone:D,title:B,
shades:at(U),onZoom:(m,g)=>U?w({w:`${Math.floor(m)}-${Math.ceil(g)}`}):de(m,g),onPan:de})),!h&&M&&e("p",{class:"hint",children:"Reading \u2026"})]}),U&&e(et,{}),h&&e(je,{rows:x,unit:te,onRemove:m=>w({
m:t.map(g=>g.id).filter(g=>g!==m)}),href:m=>F("metric",{id:m})})]})}var ot=["mean","max","min","sum","count","last","first","median","std"],Ee=t=>ot.indexOf(t)+1||99,nt=({from:t,to:r})=>`${Math.floor(
r-(r-t)/3)}-${Math.ceil(r)}`,at=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function it({range:t,columns:r,before:n,raw:a,method:o}){let s=r.map((l,i)=>Le(l,i,o));return r.forEach((l,i)=>{let{
id:c,label:p}=s[i];for(let[d,k]of Object.entries(l.values))d!==o&&/pct$/.test(d)&&s.push({...s[i],id:c+d,label:`${p} ${d}`,values:k,look:"dotted",derived:!0});n[i]&&s.push({...Le(n[i],i,o),id:c+"befor\
e",label:`${p}, ${O(Math.round(t.span))} before`,times:n[i].times.map(d=>d+t.span),look:"dashed",derived:!0}),a[i]?.times.length&&s.push({...s[i],id:c+"raw",label:`${p}, measures`,...a[i],look:"dots",
derived:!0})}),s}function Le(t,r,n){let[a,o]=n in t.values?[n,t.values[n]]:Object.entries(t.values)[0]??[n,[]];return{id:t.metric.id,label:(t.metric.name??t.metric.id)+(a===n?"":` (${a})`),color:r,times:t.
times,values:o,step:t.item.granularity}}function st({columns:t,method:r,raw:n,tooMany:a}){let o=new Set(t.map(l=>`${r in l.values?r:Object.keys(l.values)[0]??r} of ${O(l.item.granularity)}, kept for ${O(
l.item.timespan)} (archive policy ${l.metric.policy.name})`)),s=n.length?n.some(l=>l.times.length)?"; dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"\
Drawn from "+[...o].join("; ")+(a?"; zoom in to see raw measures":s)}function lt({metrics:t,columns:r,method:n,range:a}){let o=Math.floor(a.from),s=Math.ceil(a.to),l=t[0],i=r?.[0]?.item.granularity??l.
policy.items[0].granularity,c=`start=${o}&stop=${s}&granularity=${i}&aggregation=${encodeURIComponent(n)}`,p=d=>t.map(d).join(`
`);return e(_,{children:[e(I,{label:"curl",title:"Copy as curl",text:p(d=>`curl -u USER: '${ne(`/v1/metric/${d.id}/measures?${c}`)}'`)}),e(I,{label:"Python",title:"Copy as Python",text:mt(t.map(d=>d.id),
c)}),e(I,{label:"gnocchi",title:"Copy for Gnocchi's client",text:p(d=>`gnocchi measures show ${d.id} --aggregation ${n} --granularity ${i} --start ${o} --stop ${s}`)}),e(I,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(se).join(" or ")})]})}var mt=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(ne("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,se=t=>`{${[ie(t.name??""),...t.resource?[`resource_id=${ie(t.resource)}`]:[]].join(", ")}}`;var ct=300,dt=6;function De(t){let r=t.get("find")??"",n=t.getAll("l").map(p=>p.split(/=(.*)/s).slice(0,2)),a=!r&&!n.length&&!t.has("m")&&!t.has("q"),[o,s]=f(!1),{value:l,error:i}=$(p=>Re(r,n,ct,p),[r,
n.join(`
`)],o?1:15),c=a&&!!l&&l.total===0;return S(()=>s(c),[c]),{text:r,labels:n,found:l,error:i,empty:c}}function Ue({finder:t,chosen:r}){let{text:n,labels:a,found:o,error:s}=t,[l,i]=f(n),c=V(n);S(()=>{n!==
c.current&&(c.current=n,i(n))},[n]),S(()=>{if(l===c.current)return;let u=setTimeout(()=>{c.current=l,w({find:l||null},!0)},150);return()=>clearTimeout(u)},[l]);let p=new Set(r.map(K)),d=async u=>{let h=await $e(
u),z=r.map(M=>M.id);w({q:null,lang:null,m:z.includes(h.id)?z.filter(M=>M!==h.id):[...z,h.id]})},k=o?gt(o,a):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"\
search",children:[e("input",{type:"search",placeholder:"Find metrics","aria-label":"Find metrics by name",value:l,onInput:u=>i(u.currentTarget.value)}),e("button",{type:"button",title:"Draw an express\
ion, in PromQL or as dynamic aggregates",onClick:()=>w({q:r.map(se).join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:k.map(({name:u,values:h,counts:z})=>{
let M=a.find(([x])=>x===u)?.[1]??"";return e("select",{"aria-label":Ae(u),"data-label":u,value:M,onChange:x=>w({l:[...a.filter(([E])=>E!==u),...x.currentTarget.value?[[u,x.currentTarget.value]]:[]].map(
E=>E.join("="))}),children:[e("option",{value:"",children:Ae(u)}),M&&!z.some(x=>x.name===M)&&e("option",{value:M,children:M}),z.map(x=>e("option",{value:x.name,children:[x.name," (",x.value.toLocaleString(
"en"),")"]},x.name)),h>z.length&&e("option",{disabled:!0,children:["and ",(h-z.length).toLocaleString("en")," more"]})]},u)})}),s&&e(b,{bad:!0,children:s}),o&&e("p",{class:"hint",id:"found",children:o.
total===1?"1 metric":`${o.total.toLocaleString("en")} metrics`}),e("ul",{class:"found",children:[o?.series.map(u=>e("li",{children:e("button",{type:"button","aria-pressed":p.has(K(u)),title:pt(u),onClick:()=>{
d(u)},children:[e("span",{children:u.name}),e("small",{children:ut(u)})]})},K(u)+JSON.stringify(u.labels))),o&&o.total>o.series.length&&e("li",{class:"hint",children:["and ",(o.total-o.series.length).
toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}var le={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"U\
ser"},Ae=t=>le[t]??t,pt=t=>[t.name,t.resource,...Object.entries(t.labels).map(([r,n])=>`${r}=${n}`)].filter(Boolean).join(`
`),ut=t=>Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??(t.labels.resource_type==="generic"?"":t.labels.resource_type);function gt(t,r){let n=new Set(r.map(([s])=>s)),a=Object.keys(le).
slice(0,3),o=s=>n.has(s.name)?0:a.indexOf(s.name)+1||(s.name in le?99:9);return t.facets.filter(s=>n.has(s.name)||s.values>1||s.counts[0].value<t.total).sort((s,l)=>o(s)-o(l)).slice(0,dt)}var ft=12,ht=8,bt=340;function Be({finder:t}){let{params:r}=N.use(),n=q(()=>vt(t.found?.series??[]),[t.found]),a=n.flatMap(([,l])=>l),{value:o,error:s}=$(async l=>{let i=W(r),c=await Te(a),p=await G(c,
["mean"],i.from,i.to,d=>Y(d,i.from,i.to,bt),l);return{range:i,columns:new Map(p.map(d=>[(d.metric.resource??"")+"/"+d.metric.name,d]))}},[n,r.get("from")],1);return t.found?n.length?e(_,{children:[s&&
e(b,{bad:!0,children:s}),e("div",{class:"tiles",children:n.map(([l,i])=>o&&e(wt,{name:l,columns:i.flatMap(c=>o.columns.get(c.resource+"/"+c.name)??[]),range:o.range},l+i[0].resource))})]}):e(b,{children:"\
No metric is called like that."}):t.error?null:e(b,{children:"Looking for metrics \u2026"})}function vt(t){let r=new Map;for(let n of t){let a=n.resource+"/"+n.name.replace(/\d+/g,"#"),o=r.get(a)??[];
if(o.length<ht&&r.set(a,[...o,n]),r.size>ft){r.delete(a);break}}return[...r.values()].map(n=>[n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name,n])}function wt({name:t,columns:r,range:n}){if(!r.length)
return null;let a=H(t,r[0].metric.unit),o=r.map((l,i)=>({label:l.metric.name??l.metric.id,color:i,times:l.times,values:Object.values(l.values)[0]??[],step:l.item.granularity})),s=o.map(l=>l.values.at(
-1)).filter(l=>l!=null);return e("a",{class:"panel tile",href:F("explore",{m:r.map(l=>l.metric.id)}),"data-name":t,children:[e("header",{children:[e("h3",{title:t,children:t}),e("span",{class:"now",children:[
s.slice(0,3).map(l=>y(l,a,3)).join(" \xB7 "),s.length>3&&" \u2026"]})]}),e(A,{lines:o,from:n.from,to:n.to,height:130,unit:a,zone:j(),title:t,small:!0})]})}var yt=T(()=>import("./more-MHEHM7KP.js").then(t=>t.First)),xt=T(()=>import("./more-MHEHM7KP.js").then(t=>t.QueryView));function Ie(){let{params:t}=N.use(),r=De(t),n=t.getAll("m"),a=n.join(),
[o,s]=f([]),[l,i]=f("");S(()=>{let p=!0;return i(""),Promise.allSettled(n.map(Ce)).then(d=>{if(!p)return;s(d.flatMap(u=>u.status==="fulfilled"?[u.value]:[]));let k=d.find(u=>u.status==="rejected");k&&
i(k.reason.message)}),()=>{p=!1}},[a]);let c=q(()=>o.filter(p=>n.includes(p.id)),[o,a]);return r.empty?e(yt,{}):e("div",{class:"split",children:[e(Ue,{finder:r,chosen:c}),e("div",{children:[l&&e(b,{bad:!0,
children:l}),t.has("q")?e(xt,{}):n.length?c.length>0&&e(qe,{metrics:c}):e(Be,{finder:r})]})]})}function We(t){let r=[];for(let n of t.split(`
`)){if(!n||n.startsWith("#"))continue;let a=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(n);if(!a)continue;let o={};for(let[,s,l]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))o[s]=l.replace(/\\(.)/g,
(i,c)=>c==="n"?`
`:c);r.push({name:a[1],labels:o,value:Number(a[3])})}return r}function v(t,r,n={}){let a=t.filter(o=>o.name===r&&Object.entries(n).every(([s,l])=>o.labels[s]===l));return a.length?a.reduce((o,s)=>o+s.
value,0):null}var X=2,Ge=150;function Qe(){let t=$(i=>xe("/v1/status?details=false",void 0,i),[],X),r=$(async i=>({time:Date.now()/1e3,samples:We(await(await ye("GET","/metrics",void 0,i)).text())}),[],X),n=V([]),[
,a]=f(0);S(()=>{r.value&&(n.current=[...n.current,r.value].slice(-Ge),a(i=>i+1))},[r.value]);let o=r.value?.samples,s=t.value?.cluster,l=j();return e(_,{children:[r.error&&e(b,{bad:!0,children:r.error}),
t.error&&e(b,{children:[t.error,": who holds what is shown to administrators only."]}),s?.damaged.map(i=>e(b,{bad:!0,children:[i.name," is damaged since ",i.since,": ",i.reason]},i.name)),o&&e(_,{children:[
e(P,{title:"This process",aside:e("span",{children:["version ",o.find(i=>i.name==="gnocco_build_info")?.labels.version,", up ",O(Math.round(Date.now()/1e3-(v(o,"process_start_time_seconds")??0)))]}),children:e(
"dl",{class:"figures",children:[e(C,{id:"accepted",name:"Measures accepted",value:me(Q(n.current,"gnocco_incoming_measures_total")),about:y(v(o,"gnocco_incoming_measures_total"),"",12)+" in all"}),e(C,
{id:"processed",name:"Measures processed",value:me(Q(n.current,"gnocco_metricd_measures_processed_total"))}),e(C,{id:"backlog",name:"Backlog",value:y(v(o,"gnocco_incoming_backlog_measures")),about:"la\
g "+y(Math.max(0,v(o,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e(C,{id:"metrics",name:"Metrics",value:y(v(o,"gnocco_index_metrics"),"",12)}),e(C,{id:"requests",name:"Requests",value:me(
Q(n.current,"gnocco_http_requests_total")),about:y(v(o,"gnocco_http_connections"))+" connections"}),e(C,{id:"cpu",name:"Processor",value:kt(Q(n.current,"process_cpu_seconds_total")),about:"of one core"}),
e(C,{id:"dropped",name:"Measures too old",value:y(v(o,"gnocco_metricd_measures_dropped_total",{reason:"too_old"}),"",12),about:"since the start"}),e(C,{id:"device",name:"Device",value:St(o)})]})}),e("\
div",{class:"two",children:[e(P,{title:"Measures a second",children:e(_t,{history:n.current,zone:l})}),e(P,{title:"Memory and disk",children:e(Mt,{samples:o})})]}),e(P,{title:"Backlog by sack",aside:e(
"span",{children:[Je(o).length," sacks held here; a full cell is the longest backlog"]}),children:e(Ct,{samples:o})})]}),s&&e(P,{title:"Members",aside:s.silent?.length?e("span",{children:["silent: ",s.
silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",
children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:s.members.map(i=>e("tr",{children:[e("td",{class:"mono",children:i.id}),e("t\
d",{class:"mono",children:i.address}),e("td",{children:i.roles.join(", ")}),e("td",{children:$t(s.claims.filter(c=>c.member===i.id).map(c=>c.name))})]},i.id))})]})})})]})}function Q(t,r,n=5){let a=t.at(
-1),o=t.at(-1-n)??t[0];if(!a||a===o)return null;let s=v(o.samples,r),l=v(a.samples,r);return s===null||l===null||l<s?null:(l-s)/(a.time-o.time)}var me=t=>t===null?"\u2013":y(t,"",3)+" /s",kt=t=>t===null?
"\u2013":y(100*t,"percent",3);function St(t){return t.filter(n=>n.name.startsWith("gnocco_gpu_")).length?(v(t,"gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function _t({history:t,zone:r}){let n=(o,s,l)=>{
let i=[],c=[];for(let p=1;p<t.length;p++)i.push(t[p].time),c.push(Q(t.slice(0,p+1),s,1));return{label:o,color:l,times:i,values:c,step:X*2}},a=t.at(-1)?.time??Date.now()/1e3;return e(A,{lines:[n("accep\
ted","gnocco_incoming_measures_total",0),n("processed","gnocco_metricd_measures_processed_total",1)],from:a-X*Ge,to:a,height:180,unit:"",zone:r,title:"Measures a second"})}var zt=["index","incoming","\
sacks"];function Mt({samples:t}){let r=v(t,"process_resident_memory_bytes")??0,n=v(t,"go_gc_gomemlimit_bytes")??0,a=v(t,"gnocco_memory_used_bytes")??0,o=v(t,"gnocco_memory_budget_bytes")??0,s=zt.map(i=>[
i,v(t,"gnocco_store_disk_bytes",{store:i})??0]),l=Math.max(1,...s.map(([,i])=>i));return e(_,{children:[e(ce,{id:"memory",name:"Memory of the process",value:r,of:n<1e18?n:0}),e(ce,{id:"budget",name:"H\
eld by requests",value:a,of:o}),s.map(([i,c])=>e(ce,{id:"disk-"+i,name:"Disk: "+i,value:c,share:c/l},i))]})}function ce({id:t,name:r,value:n,of:a,share:o}){return e("div",{id:t,"data-value":n,children:[
e("div",{class:"aside",children:[e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[y(n,"bytes",3),a?" of "+y(a,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*
Math.min(1,o??(a?n/a:0))+"%"}})})]})}var Je=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort((r,n)=>+r.labels.sack-+n.labels.sack);function Ct({samples:t}){let r=Je(t),n=Math.max(1,...r.map(
a=>a.value));return e("div",{class:"strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${y(Math.max(0,...r.map(a=>a.value)))} at most`,children:r.map(a=>e("i",{"data-sack":a.labels.sack,"da\
ta-value":a.value,title:`sack ${a.labels.sack}: ${y(a.value)} measures wait, ${y(v(t,"gnocco_sack_backlog_age_seconds",{sack:a.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--\
warm) ${Math.round(100*a.value/n)}%, var(--accent-soft))`}},a.labels.sack))})}function $t(t){let r=t.filter(o=>o.startsWith("sacks/")).map(o=>+o.slice(6)).sort((o,s)=>o-s),n=[];for(let o=0;o<r.length;o++){
let s=o;for(;r[s+1]===r[s]+1;)s++;n.push(s>o?`${r[o]}\u2013${r[s]}`:`${r[o]}`),o=s}let a=t.filter(o=>!o.startsWith("sacks/")).map(o=>o.startsWith("incoming/")?"an incoming store":"the "+o);return[...new Set(
a),...n.length?[(r.length===1?"sack ":"sacks ")+n.join(", ")]:[]].join(", ")||"nothing"}var Ve=[{name:"explore",title:"Explore",page:Ie},{name:"policies",title:"Policies",page:T(()=>import("./more-MHEHM7KP.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:T(
()=>import("./more-MHEHM7KP.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:Qe},{name:"metric",page:T(()=>import("./more-MHEHM7KP.js").then(t=>t.MetricPage))}],Tt=["UTC",
"Europe/Berlin","Europe/London","America/New_York","America/Los_Angeles","Asia/Kolkata","Asia/Shanghai","Asia/Tokyo","Australia/Sydney"];function Rt(){let t=Intl.DateTimeFormat().resolvedOptions().timeZone||
"UTC",r=j(),n=[...new Set([t,r,...Tt])];return e("select",{"aria-label":"Time zone",value:r,onChange:a=>w({tz:a.currentTarget.value===t?null:a.currentTarget.value}),children:n.map(a=>e("option",{value:a,
children:a.replaceAll("_"," ")},a))})}function Pt(){let t=N.use(),r=Z.use(),n=he.use(),a=ze.use(),[o,s]=f("");S(()=>{be().catch(()=>s("The server does not answer. Load the page again when it does."))},
[]);let l=Ve.find(c=>c.name===t.page),i=l?.page;return S(()=>{document.title=(l?.title??"Metric")+" \xB7 Gnocco"},[l]),e(_,{children:[e("a",{class:"skip",href:"#main",onClick:c=>{c.preventDefault(),document.
getElementById("main")?.focus()},children:"To the content"}),e("header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("img",{src:"icon.svg",alt:"",width:"22",height:"22"}),"\
Gnocco"]}),e("nav",{"aria-label":"Pages",children:Ve.map(c=>c.title&&e("a",{href:F(c.name),"aria-current":c.name===t.page?"page":void 0,children:c.title},c.name))}),e("div",{class:"settings",children:[
e(Rt,{}),e("button",{type:"button",class:"icon","aria-label":a==="dark"?"Light colours":"Dark colours",title:a==="dark"?"Light colours":"Dark colours",onClick:Me,children:a==="dark"?"\u2600":"\u263E"}),
r&&r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:we,title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,children:[o&&e(b,{bad:!0,children:o}),n&&
e(Fe,{}),r&&!n&&(i?e(i,{},t.page+r.user):e(b,{children:["There is no page of this name. ",e("a",{href:F("explore"),children:"Explore"})," is where to begin."]}))]})]})}fe(e(Pt,{}),document.getElementById(
"app"));
