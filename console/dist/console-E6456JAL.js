import"./chunk-J525V6NZ.js";import{A as ee,B as Ge,C as Ve,D as He,E as me,F as te,H as re,I as de,J as Qe,K as Ze,L as Je,M as Ke,N as Q,O as Ye,P as Xe,Q as et,a as se,b as w,c as D,e as le,g as e,
h as x,i as xe,j as Ue,k as E,l as R,m as Y,n as Be,o as Ie,p as N,q as U,r as A,s as M,t as X,u as ce,v as B,w as Ae,z as We}from"./chunk-XYFAM5X6.js";import{b as $,c as Oe,d as b,e as P,f as H,
g as I,h as j,j as ie,k as Ee,m as Le,n as Fe,o as ye,p as qe,q as De}from"./chunk-X6CYITXK.js";import{h as we,s as Te,t as je,w as Ne}from"./chunk-6HXGSEI3.js";var tt="./icon-CQTSC6ED.svg";function rt(){let t=ie.use(),[r,a]=b(""),[s,n]=b(""),[o,l]=b(""),[c,i]=b(t.credentials==="token");return e("form",{class:"sign-in panel",onSubmit:async p=>{p.preventDefault();try{await Le(t.credentials,
c?"":r,s)}catch(h){l(h.status===401?"These are not known here.":h.message)}},children:[e("h1",{children:"Sign in"}),t.expired&&!o&&e("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),o&&e("p",{class:"notice bad",role:"alert",children:o}),!c&&e("label",{children:[t.credentials==="token"?"Application credential":"User",e("\
input",{name:"user",value:r,onInput:p=>a(p.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),t.credentials!=="name"&&e("label",{children:[c?"Keystone token":t.credentials==="t\
oken"?"Secret":"Password",e("input",{name:"secret",type:"password",value:s,onInput:p=>n(p.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),e("button",{type:"submit",class:"\
main",children:"Sign in"}),t.credentials==="token"&&e("button",{type:"button",class:"plain",onClick:()=>i(!c),children:c?"Use an application credential":"Use a token"}),t.credentials==="name"&&e("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function L(t){let r;return function(){let[,s]=b(0),[n,o]=b(!1);H(()=>{r||t().then(c=>{r=c,s(1)},()=>o(!0))},[]);let l=r;return l?e(l,{}):n?e(x,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var zt=L(()=>import("./lazy_pages-FLXVWDIZ.js").then(t=>t.Changed)),Ct=4,Pt=5e3;function at({metrics:t}){let{params:r}=U.use(),[a]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),s=r.get("agg")??"mean",n=r.get("g"),o=t.length<=Ct,l=o&&s==="mean",c=[...new Set(t.flatMap(m=>m.policy.methods.filter(f=>/^[\d.]+pct$/.test(f))))].sort((m,f)=>parseFloat(m)-parseFloat(f)),i={cmp:!0,
pct:o&&c.length>0,raw:o},d=m=>i[m]&&r.get(m)==="1",p=re(t),h=X(r,p),y=Math.min(...t.map(m=>m.policy.items[0].granularity)),{value:u,error:v,loading:g}=N(async m=>{let f=async(ae,wt)=>{let{from:K,to:ve,
span:Pe}=ae,$e=V=>n&&V.items.find(_t=>_t.granularity===+n)||me(V,K,ve,a,Qe(t)),yt=[s,...l?["min","max"]:[],...d("pct")?c:[]],Re=d("raw")&&t.some(V=>Pe/V.policy.items[0].granularity>Pt),[xt,kt,St]=await Promise.
all([te(t,yt,K,ve,$e,m),d("cmp")?te(t,[s],K-Pe,K,$e,m):[],d("raw")&&!Re?Promise.all(t.map(V=>Ze(V.id,K,ve,m))):[]]);return{range:ae,columns:xt,before:kt,raw:St,method:s,tooMany:Re,newest:wt}},G=X(r,p),
be=await f(G,null);if(be.columns.some(ae=>ae.times.length))return be;let oe=await de(t,G.from,m);if(!oe||r.has("from"))return{...be,newest:oe};let Ce=oe+y;return f({...G,from:Ce-G.span,to:Ce},oe)},[t,
s,n,...["from","to","live","cmp","pct","raw"].map(m=>r.get(m))],h.live?ce(r,Math.min(30,Math.max(1,y))):0),z=j(()=>u?jt(u):[],[u]),C=j(()=>z.map(m=>l&&!m.derived?{...m,low:u.columns[m.color].values.min,
high:u.columns[m.color].values.max}:m),[z,l]),k=[...new Set(t.flatMap(m=>m.policy.methods))].sort((m,f)=>nt(m)-nt(f)||m.localeCompare(f,"en",{numeric:!0})),S=[...new Set(t.flatMap(m=>m.policy.items.map(
f=>f.granularity)))].sort((m,f)=>m-f),T=se(t[0].name??"",t[0].unit),O=B(),F=r.get("view")==="table",Z=Ae(r),J=t.length===1?t[0].name??t[0].id:`${t.length} metrics`,q=u?.range??h,fe=(m,f)=>M({from:String(
Math.floor(m)),to:String(Math.ceil(f))}),he=(m,f,G)=>i[m]&&e("button",{type:"button","aria-pressed":d(m),title:G,onClick:()=>M({[m]:d(m)?null:"1"}),children:f});return e($,{children:[e(Ye,{range:q,children:[
e("label",{class:"aside",children:["Show"," ",e("select",{"aria-label":"Aggregation method",value:s,onChange:m=>M({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(k.includes(
s)?k:[s,...k]).map(m=>e("option",{children:m},m))})]}),e("label",{class:"aside",children:["of"," ",e("select",{"aria-label":"Granularity",value:n??"",onChange:m=>M({g:m.currentTarget.value||null}),children:[
e("option",{value:"",children:"what fits"}),S.map(m=>e("option",{value:String(m),children:D(m)},m))]})]})]}),v&&e(x,{bad:!0,children:v}),e(E,{title:J,id:"drawn",aside:e($,{children:[he("cmp","Before",
`Compare with the ${D(Math.round(q.span))} before`),he("pct","Percentiles",c.join(", ")),he("raw","Raw","Single measures, as far as they are kept"),e("button",{type:"button","aria-pressed":!!Z,title:"\
Mark a time, and see which metrics moved most",onClick:()=>M({w:Z?null:Rt(q)}),children:"What changed here?"}),e("button",{type:"button","aria-pressed":F,onClick:()=>M({view:F?null:"table"}),children:"\
Table"}),e(Ie,{title:"Copy",children:[e(Ot,{metrics:t,columns:u?.columns,method:s,range:q}),!F&&e("button",{type:"button",onClick:()=>{import("./lazy_pages-FLXVWDIZ.js").then(({picture:m})=>m("drawn",
J,C,`${le(q.from,O)} \u2013 ${le(q.to,O)} ${O}`)).then(m=>Be(m,J+".png"))},children:"PNG"})]})]}),children:[u&&e("p",{class:"hint",id:"archive","data-from":u.range.from,children:Nt(u)}),u?.newest&&e(x,
{children:["Newest measure ",le(u.newest,O),u.newest<u.range.from?": ":", and none since",u.newest<u.range.from&&e("button",{type:"button",onClick:()=>fe(u.newest+y-p,u.newest+y),children:"Show it"})]}),
u&&(F?e(et,{rows:z,unit:T,zone:O,name:J}):e(Q,{lines:C,from:q.from,to:q.to,height:340,unit:T,zone:O,title:J,shades:Tt(Z),onZoom:(m,f)=>Z?M({w:`${Math.floor(m)}-${Math.ceil(f)}`}):fe(m,f),onPan:fe})),!u&&
g&&e("p",{class:"hint",children:"Reading \u2026"})]}),Z&&e(zt,{}),u&&e(Xe,{rows:z,unit:T,onRemove:m=>M({m:t.map(f=>f.id).filter(f=>f!==m)}),href:m=>A("metric",{id:m})})]})}var $t=["mean","max","min","\
sum","count","last","first","median","std"],nt=t=>$t.indexOf(t)+1||99,Rt=({from:t,to:r})=>`${Math.floor(r-(r-t)/3)}-${Math.ceil(r)}`,Tt=t=>t?[{from:2*t.from-t.to,to:t.from,faint:!0},t]:[];function jt({
range:t,columns:r,before:a,raw:s,method:n}){let o=ee(r.map(c=>c.metric)),l=r.map((c,i)=>ot(c,i,n,o[i]));return r.forEach((c,i)=>{let{id:d,label:p}=l[i];for(let[h,y]of Object.entries(c.values))h!==n&&/pct$/.
test(h)&&l.push({...l[i],id:d+h,label:`${p} ${h}`,values:y,look:"dotted",derived:!0});a[i]&&l.push({...ot(a[i],i,n,o[i]),id:d+"before",label:`${p}, ${D(Math.round(t.span))} before`,times:a[i].times.map(
h=>h+t.span),look:"dashed",derived:!0}),s[i]?.times.length&&l.push({...l[i],id:d+"raw",label:`${p}, measures`,...s[i],look:"dots",derived:!0})}),l}function ot(t,r,a,s){let[n,o]=a in t.values?[a,t.values[a]]:
Object.entries(t.values)[0]??[a,[]];return{id:t.metric.id,label:s+(n===a?"":` (${n})`),color:r,times:t.times,values:o,step:t.item.granularity}}function Nt({columns:t,method:r,raw:a,tooMany:s}){let n=new Set(
t.map(l=>`${r in l.values?r:Object.keys(l.values)[0]??r} of ${D(l.item.granularity)}, kept for ${D(l.item.timespan)} (archive policy ${l.metric.policy.name})`)),o=a.length?a.some(l=>l.times.length)?";\
 dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"Drawn from "+[...n].join("; ")+(s?"; zoom in to see raw measures":o)}function Ot({metrics:t,columns:r,
method:a,range:s}){let n=Math.floor(s.from),o=Math.ceil(s.to),l=t[0],c=r?.[0]?.item.granularity??l.policy.items[0].granularity,i=`start=${n}&stop=${o}&granularity=${c}&aggregation=${encodeURIComponent(
a)}`,d=p=>t.map(p).join(`
`);return e($,{children:[e(Y,{label:"curl",title:"Copy as curl",text:d(p=>`curl -u USER: '${ye(`/v1/metric/${p.id}/measures?${i}`)}'`)}),e(Y,{label:"Python",title:"Copy as Python",text:Et(t.map(p=>p.id),
i)}),e(Y,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(p=>`gnocchi measures show ${p.id} --aggregation ${a} --granularity ${c} --start ${n} --stop ${o}`)}),e(Y,{label:"PromQL",title:"Copy \
as PromQL",text:t.map(ke).join(" or ")})]})}var Et=(t,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(t)}:
    request = urllib.request.Request(${JSON.stringify(ye("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,ke=t=>`{${[we(t.name??""),...t.resource?[`resource_id=${we(t.resource)}`]:[]].join(", ")}}`;var Lt=6;function st(t){let{text:r,labels:a}=Ne(t),s=!r&&!a.length&&!t.has("m")&&!t.has("q"),[n,o]=b(!1),l=[r,a.join(`
`)],c=n?1:15,{value:i,error:d}=N(u=>He(r,a,u),l,c),{value:p,error:h}=N(u=>Ve(r,a,u),l,c),y=s&&i?.length===0;return P(()=>o(y),[y]),{text:r,labels:a,series:i,counts:p,error:d??h,empty:y}}function lt({finder:t,
chosen:r}){let{text:a,labels:s,series:n,counts:o,error:l}=t,[c,i]=b(a),d=I(a);P(()=>{a!==d.current&&(d.current=a,i(a))},[a]),P(()=>{if(c===d.current)return;let g=setTimeout(()=>{d.current=c,M({find:c||
null},!0)},150);return()=>clearTimeout(g)},[c]);let p=new Set(r.map(g=>g.id)),h=g=>{let z=r.map(C=>C.id);M({q:null,lang:null,m:z.includes(g.id)?z.filter(C=>C!==g.id):[...z,g.id]})},y=Ft(a+`
`+s.join(`
`),n?.length??0),u=j(()=>n?.slice(0,y).map(g=>e("li",{children:e("button",{type:"button","aria-pressed":p.has(g.id),title:Dt(g),onClick:()=>h(g),children:[e("span",{children:g.name}),e("small",{children:Ut(
g)})]})},g.id)),[n,r,y]),v=o?Bt(o,s):[];return e("aside",{class:"panel finder","aria-label":"Find metrics",children:[e("div",{class:"search",children:[e("input",{type:"search",placeholder:"Find metric\
s","aria-label":"Find metrics by name",value:c,onInput:g=>i(g.currentTarget.value)}),e("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>M({q:r.map(ke).
join(" or "),m:null,agg:null,g:null}),children:"\u0192(x)"})]}),e("div",{class:"facets",children:v.map(({name:g,values:z,counts:C})=>{let k=s.find(([S])=>S===g)?.[1]??"";return e("select",{"aria-label":it(
g),"data-label":g,value:k,onChange:S=>M({l:[...s.filter(([T])=>T!==g),...S.currentTarget.value?[[g,S.currentTarget.value]]:[]].map(T=>T.join("="))}),children:[e("option",{value:"",children:it(g)}),k&&
!C.some(S=>S.name===k)&&e("option",{value:k,children:k}),C.map(S=>e("option",{value:S.name,children:[S.name," (",S.value.toLocaleString("en"),")"]},S.name)),z>C.length&&e("option",{disabled:!0,children:[
"and ",(z-C.length).toLocaleString("en")," more"]})]},g)})}),l&&e(x,{bad:!0,children:l}),o&&e("p",{class:"hint",id:"found",children:o.total===1?"1 metric":`${o.total.toLocaleString("en")} metrics`}),e(
"ul",{class:"found",children:[u,n&&o&&y>=n.length&&o.total>n.length&&e("li",{class:"hint",children:["and ",(o.total-n.length).toLocaleString("en")," more: type, or choose above, to narrow"]})]})]})}function Ft(t,r){
let[a,s]=b({of:t,lines:Se}),n=a.of===t?a.lines:Se;return P(()=>{if(n>=r)return;let o=0,l=setTimeout(()=>{o=requestIdleCallback(()=>s({of:t,lines:n+qt}),{timeout:1e3})},n===Se?250:0);return()=>{clearTimeout(
l),cancelIdleCallback(o)}},[t,n,r]),n}var Se=40,qt=65,_e={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",user_id:"User"},it=t=>_e[t]??t,Dt=t=>[
t.name,t.resource,t.place[""],...Object.entries(t.labels).map(([r,a])=>`${r}=${a}`)].filter(Boolean).join(`
`),Ut=t=>t.place[""]??t.labels.instance??Object.entries(t.labels).find(([r])=>r!=="resource_type")?.[1]??"";function Bt(t,r){let a=new Set(r.map(([o])=>o)),s=Object.keys(_e).slice(0,3),n=o=>a.has(o.name)?
0:s.indexOf(o.name)+1||(o.name in _e?99:9);return t.facets.filter(o=>a.has(o.name)||o.values>1||o.counts[0].value<t.total).sort((o,l)=>n(o)-n(l)).slice(0,Lt)}var ct=12,It=3,At=8,Wt=340;function mt({finder:t}){let{params:r}=U.use(),a=j(()=>Gt(t.series??[]),[t.series]),s=a.flatMap(([,i])=>i),{value:n,error:o}=N(async i=>{let d=new Map((await Ge(s)).map(u=>[u.
id,u])),p=async(u,v,g)=>{let z=await te(u.flat(),["mean"],v.from,v.to,k=>me(k,v.from,v.to,Wt,g),i),C=new Map(z.map(k=>[k.metric.id,k]));return Promise.all(u.map(async k=>{let S=k.flatMap(F=>C.get(F.id)??
[]);if(g||r.has("from")||S.some(F=>F.times.length))return{range:v,columns:S};let T=await de(k,v.from,i);if(!T)return{range:v,columns:S};let O=T+v.span/60;return(await p([k],{...v,from:O-v.span,to:O},T))[0]}))},
h=new Map;for(let[,u]of a){let v=u.flatMap(g=>d.get(g.id)??[]);v.length&&h.set(re(v),[...h.get(re(v))??[],v])}let y=await Promise.all([...h].map(([u,v])=>p(v,X(r,u))));return new Map(y.flat().map(u=>[
u.columns[0]?.metric.id??"",u]))},[a,r.get("from"),r.get("to")],ce(r,1)),[l,c]=b(!1);return P(()=>{if(!n||l)return;let i=setTimeout(()=>c(!0));return()=>clearTimeout(i)},[n,l]),t.series?a.length?e($,{
children:[o&&e(x,{bad:!0,children:o}),e("div",{class:"tiles",children:a.slice(0,l?ct:It).map(([i,d])=>n&&e(Vt,{name:i,drawn:d.map(p=>n.get(p.id)).find(Boolean)},d[0].id))})]}):e(x,{children:"No metric\
 is called like that."}):t.error?null:e(x,{children:"Looking for metrics \u2026"})}function Gt(t){let r=new Map;for(let n of t){let o=n.resource+"/"+n.name.replace(/\d+/g,"#"),l=r.get(o)??[];if(l.length<
At&&r.set(o,[...l,n]),r.size>ct){r.delete(o);break}}let a=[...r.values()],s=ee(a.map(n=>({...n[0],name:n.length>1?n[0].name.replace(/\d+/g,"*"):n[0].name})));return a.map((n,o)=>[s[o],n])}function Vt({
name:t,drawn:r}){if(!r?.columns.length)return null;let{columns:a,range:s}=r,n=se(t,a[0].metric.unit),o=ee(a.map(i=>i.metric)),l=a.map((i,d)=>({label:o[d],color:d,times:i.times,values:Object.values(i.values)[0]??
[],step:i.item.granularity})),c=l.map(i=>i.values.at(-1)).filter(i=>i!=null);return e("a",{class:"panel tile",href:A("explore",{m:a.map(i=>i.metric.id)}),"data-name":t,children:[e("header",{children:[
e("h3",{title:t,children:t}),e("span",{class:"now",children:[c.slice(0,3).map(i=>w(i,n,3)).join(" \xB7 "),c.length>3&&" \u2026"]})]}),e(Q,{lines:l,from:s.from,to:s.to,height:130,unit:n,zone:B(),title:t,
small:!0})]})}var Ht=L(()=>import("./lazy_pages-FLXVWDIZ.js").then(t=>t.First)),Qt=L(()=>import("./lazy_pages-FLXVWDIZ.js").then(t=>t.QueryView));function dt(){let{params:t}=U.use(),r=st(t),a=t.getAll("m"),s=a.join(),
[n,o]=b([]),[l,c]=b("");H(()=>{let d=!0;return c(""),We(a).then(p=>{if(!d)return;o(p.flatMap(y=>y.status==="fulfilled"?[y.value]:[]));let h=p.find(y=>y.status==="rejected");h&&c(h.reason.message)}),()=>{
d=!1}},[s]);let i=j(()=>n.filter(d=>a.includes(d.id)),[n,s]);return r.empty?e(Ht,{}):e("div",{class:"split",children:[e(lt,{finder:r,chosen:i}),e("div",{children:[l&&e(x,{bad:!0,children:l}),t.has("q")?
e(Qt,{}):a.length?i.length>0&&e(at,{metrics:i}):e(mt,{finder:r})]})]})}function ut(t){let r=[];for(let a of t.split(`
`)){if(!a||a.startsWith("#"))continue;let s=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(a);if(!s)continue;let n={};for(let[,o,l]of(s[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))n[o]=l.replace(/\\(.)/g,
(c,i)=>i==="n"?`
`:i);r.push({name:s[1],labels:n,value:Number(s[3])})}return r}function _(t,r,a={}){let s=t.filter(n=>n.name===r&&Object.entries(a).every(([o,l])=>n.labels[o]===l));return s.length?s.reduce((n,o)=>n+o.
value,0):null}var pt={damaged:"is damaged",missing:"is missing",later:"was written by a later version",unopened:"could not be opened"},Zt={none:"none",up:"GPU",down:"GPU, out of use"},ge=2,gt=150;function ft(){let t=N(
i=>De(Te,void 0,i),[],ge),r=N(async i=>({time:Date.now()/1e3,samples:ut(await(await qe("GET",je,void 0,i)).text())}),[],ge),a=I([]),s=I([]),[,n]=b(0);P(()=>{r.value&&(a.current=[...a.current,r.value].
slice(-gt),n(i=>i+1))},[r.value]),P(()=>{t.value?.cluster&&(s.current=[...s.current,t.value.cluster.members].slice(-1-ht),n(i=>i+1))},[t.value]);let o=r.value?.samples,l=t.value?.cluster,c=B();return e(
$,{children:[r.error&&e(x,{bad:!0,children:r.error}),t.error&&e(x,{children:[t.error,": who holds what is shown to administrators only."]}),l?.damaged.map(i=>e(x,{bad:!0,children:[i.name," ",pt[i.fault]??
pt.damaged," (since ",i.since,"): ",i.reason]},i.name)),l&&l.members.length>1&&e(E,{title:"The cluster",aside:e("span",{children:[l.members.length," processes",l.silent?.length?", silent: "+l.silent.join(
", "):""]}),children:e("dl",{class:"figures",children:[e(R,{id:"all-accepted",name:"Measures accepted",value:W(pe(l.members.map(i=>ue(s.current,i.id,"accepted")))),about:w(pe(l.members.map(i=>i.figures?.
accepted??null)),"",12)+" in all"}),e(R,{id:"all-processed",name:"Measures processed",value:W(pe(l.members.map(i=>ue(s.current,i.id,"processed")))),about:w(pe(l.members.map(i=>i.figures?.processed??null)),
"",12)+" in all"}),e(R,{id:"all-backlog",name:"Backlog",value:w(l.sacks.reduce((i,d)=>i+d.measures,0)),about:"lag "+w(Math.max(0,...l.sacks.map(i=>i.seconds)),"seconds",3)})]})}),o&&e($,{children:[e(E,
{title:"This process",aside:e("span",{children:["version ",o.find(i=>i.name==="gnocco_build_info")?.labels.version,", up"," ",D(Math.round(Date.now()/1e3-(_(o,"process_start_time_seconds")??0)))]}),children:e(
"dl",{class:"figures",children:[e(R,{id:"accepted",name:"Measures accepted",value:W(ne(a.current,"gnocco_incoming_measures_total")),about:w(_(o,"gnocco_incoming_measures_total"),"",12)+" in all"}),e(R,
{id:"processed",name:"Measures processed",value:W(ne(a.current,"gnocco_metricd_measures_processed_total"))}),e(R,{id:"backlog",name:"Backlog",value:w(_(o,"gnocco_incoming_backlog_measures")),about:"la\
g "+w(Math.max(0,_(o,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),e(R,{id:"metrics",name:"Metrics",value:w(_(o,"gnocco_index_metrics"),"",12)}),e(R,{id:"requests",name:"Requests",value:W(
ne(a.current,"gnocco_http_requests_total")),about:w(_(o,"gnocco_http_connections"))+" connections"}),e(R,{id:"cpu",name:"Processor",value:Jt(ne(a.current,"process_cpu_seconds_total")),about:"of one co\
re"}),e(R,{id:"dropped",name:"Measures too old",value:w(_(o,"gnocco_metricd_measures_dropped_total",{reason:"too_old"}),"",12),about:"since the start"}),e(R,{id:"device",name:"Device",value:Kt(o)})]})}),
e("div",{class:"two",children:[e(E,{title:"Measures a second",children:e(Yt,{history:a.current,zone:c})}),e(E,{title:"Memory and disk",children:e(er,{samples:o})})]}),e(E,{title:"Backlog by sack",aside:e(
"span",{children:[bt(o).length," sacks held here; a full cell is the longest backlog"]}),children:e(tr,{samples:o})})]}),l&&e(E,{title:"Members",aside:l.silent?.length?e("span",{children:["silent: ",l.
silent.join(", ")]}):void 0,children:e("div",{class:"scroll",children:e("table",{id:"members",children:[e("thead",{children:e("tr",{children:[e("th",{scope:"col",children:"Member"}),e("th",{scope:"col",
children:"Address"}),e("th",{scope:"col",children:"Roles"}),e("th",{scope:"col",class:"number",children:"Accepted"}),e("th",{scope:"col",class:"number",children:"Processed"}),e("th",{scope:"col",children:"\
Memory"}),e("th",{scope:"col",children:"Device"}),e("th",{scope:"col",children:"Version"}),e("th",{scope:"col",children:"Holds"})]})}),e("tbody",{children:l.members.map(i=>e("tr",{"data-member":i.id,children:[
e("td",{class:"mono",children:i.id}),e("td",{class:"mono",children:i.address}),e("td",{children:i.roles.join(", ")}),e("td",{class:"number","data-figure":"accepted",children:W(ue(s.current,i.id,"accep\
ted"))}),e("td",{class:"number","data-figure":"processed",children:W(ue(s.current,i.id,"processed"))}),e("td",{"data-figure":"memory",children:i.figures?w(i.figures.memory,"bytes",3)+" of "+w(i.figures.
memory_limit,"bytes",3):"\u2013"}),e("td",{"data-figure":"device",children:i.figures?Zt[i.figures.device]:"\u2013"}),e("td",{"data-figure":"version",children:i.figures?.version??"\u2013"}),e("td",{children:rr(
l.claims.filter(d=>d.member===i.id).map(d=>d.name))})]},i.id))})]})})})]})}var ht=5;function ue(t,r,a){let s=t.map(l=>l.find(c=>c.id===r)?.figures).filter(l=>l!==void 0),n=s[0],o=s.at(-1);return n&&o&&
o.uptime>n.uptime?(o[a]-n[a])/(o.uptime-n.uptime):null}function pe(t){let r=t.filter(a=>a!==null);return r.length?r.reduce((a,s)=>a+s,0):null}function ne(t,r,a=ht){let s=t.at(-1),n=t.at(-1-a)??t[0];if(!s||
s===n)return null;let o=_(n.samples,r),l=_(s.samples,r);return o===null||l===null||l<o?null:(l-o)/(s.time-n.time)}var W=t=>t===null?"\u2013":w(t,"",3)+" /s",Jt=t=>t===null?"\u2013":w(100*t,"percent",3);
function Kt(t){return t.filter(a=>a.name.startsWith("gnocco_gpu_")).length?(_(t,"gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function Yt({history:t,zone:r}){let a=(n,o,l)=>{let c=[],i=[];for(let d=1;d<
t.length;d++)c.push(t[d].time),i.push(ne(t.slice(0,d+1),o,1));return{label:n,color:l,times:c,values:i,step:ge*2}},s=t.at(-1)?.time??Date.now()/1e3;return e(Q,{lines:[a("accepted","gnocco_incoming_meas\
ures_total",0),a("processed","gnocco_metricd_measures_processed_total",1)],from:s-ge*gt,to:s,height:180,unit:"",zone:r,title:"Measures a second"})}var Xt=["index","incoming","sacks"];function er({samples:t}){
let r=_(t,"process_resident_memory_bytes")??0,a=_(t,"go_gc_gomemlimit_bytes")??0,s=_(t,"gnocco_memory_used_bytes")??0,n=_(t,"gnocco_memory_budget_bytes")??0,o=Xt.map(c=>[c,_(t,"gnocco_store_disk_bytes",
{store:c})??0]),l=Math.max(1,...o.map(([,c])=>c));return e($,{children:[e(Me,{id:"memory",name:"Memory of the process",value:r,of:a<1e18?a:0}),e(Me,{id:"budget",name:"Held by requests",value:s,of:n}),
o.map(([c,i])=>e(Me,{id:"disk-"+c,name:"Disk: "+c,value:i,share:i/l},c))]})}function Me({id:t,name:r,value:a,of:s,share:n}){return e("div",{id:t,"data-value":a,children:[e("div",{class:"aside",children:[
e("span",{children:r}),e("b",{style:{marginLeft:"auto"},children:[w(a,"bytes",3),s?" of "+w(s,"bytes",3):""]})]}),e("div",{class:"meter",children:e("i",{style:{width:100*Math.min(1,n??(s?a/s:0))+"%"}})})]})}
var bt=t=>t.filter(r=>r.name==="gnocco_sack_backlog_measures").sort((r,a)=>+r.labels.sack-+a.labels.sack);function tr({samples:t}){let r=bt(t),a=Math.max(1,...r.map(s=>s.value));return e("div",{class:"\
strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${w(Math.max(0,...r.map(s=>s.value)))} at most`,children:r.map(s=>e("i",{"data-sack":s.labels.sack,"data-value":s.value,title:`sack ${s.labels.
sack}: ${w(s.value)} measures wait, ${w(_(t,"gnocco_sack_backlog_age_seconds",{sack:s.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*s.value/a)}%, var(\
--accent-soft))`}},s.labels.sack))})}function rr(t){let r=t.filter(n=>n.startsWith("sacks/")).map(n=>+n.slice(6)).sort((n,o)=>n-o),a=[];for(let n=0;n<r.length;n++){let o=n;for(;r[o+1]===r[o]+1;)o++;a.
push(o>n?`${r[n]}\u2013${r[o]}`:`${r[n]}`),n=o}let s=t.filter(n=>!n.startsWith("sacks/")).map(n=>n.startsWith("incoming/")?"an incoming store":"the "+n);return[...new Set(s),...a.length?[(r.length===1?
"sack ":"sacks ")+a.join(", ")]:[]].join(", ")||"nothing"}var vt=[{name:"explore",title:"Explore",page:dt},{name:"policies",title:"Policies",page:L(()=>import("./lazy_pages-FLXVWDIZ.js").then(t=>t.Policies))},{name:"correlations",title:"Correlations",page:L(
()=>import("./lazy_pages-FLXVWDIZ.js").then(t=>t.Correlations))},{name:"server",title:"Server",page:ft},{name:"metric",page:L(()=>import("./lazy_pages-FLXVWDIZ.js").then(t=>t.MetricPage))}];function nr(){
let t=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=B(),[a,s]=b([]);P(()=>{let o=setTimeout(()=>s(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(o)},[]);let n=j(()=>[...new Set(
[t,"UTC",r,...a])],[t,r,a]);return e("select",{"aria-label":"Time zone",value:r,onChange:o=>M({tz:o.currentTarget.value===t?null:o.currentTarget.value}),children:n.map(o=>e("option",{value:o,children:o.
replaceAll("_"," ")},o))})}var ze=null;document.addEventListener("focusin",t=>{ze=t.target});function or(){let t=U.use(),r=ie.use(),a=Ee.use(),s=Je.use(),n=vt.find(c=>c.name===t.page),o=n?.page;P(()=>{
document.title=(n?.title??"Metric")+" \xB7 Gnocco"},[n]);let l=I(t.page);return H(()=>{(t.page!==l.current||ze&&!ze.isConnected)&&xe(),l.current=t.page},[t]),e($,{children:[e("a",{class:"skip",href:"#\
main",onClick:c=>{c.preventDefault(),xe()},children:"To the content"}),e("header",{class:"top",children:[e("a",{class:"brand",href:"#/explore",children:[e("img",{src:tt,alt:"",width:"22",height:"22"}),
"Gnocco"]}),e("nav",{"aria-label":"Pages",children:vt.map(c=>c.title&&e("a",{href:A(c.name),"aria-current":c.name===t.page?"page":void 0,children:c.title},c.name))}),e("div",{class:"settings",children:[
e(nr,{}),e("button",{type:"button",class:"icon","aria-label":s==="dark"?"Light colours":"Dark colours",title:s==="dark"?"Light colours":"Dark colours",onClick:Ke,children:s==="dark"?"\u2600":"\u263E"}),
r.credentials!=="none"&&r.user&&e("button",{type:"button",onClick:Fe,title:"Sign in as somebody else",children:r.user})]})]}),e("main",{id:"main",tabIndex:-1,children:[a&&e(rt,{}),!a&&n?.title&&e(Ue,{
hidden:!0,children:n.title},n.name),!a&&(o?e(o,{},t.page+r.user):e(x,{children:["There is no page of this name. ",e("a",{href:A("explore"),children:"Explore"})," is where to begin."]}))]})]})}Oe(e(or,
{}),document.getElementById("app"));
