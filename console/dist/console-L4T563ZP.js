import"./chunk-ACBKX5SS.js";import{A as I,B as He,C as Qe,D as Ze,E as me,F as de,G as ee,I as te,J as ue,K as Je,L as Ke,M as Ye,N as Xe,O as H,P as et,Q as tt,R as rt,a as se,b as v,c as L,e as le,
g as t,h as w,i as _e,j as Ie,k as R,l as C,m as Y,n as Ae,o as We,p as P,q as E,r as B,s as x,t as X,u as ce,v as q,w as Ge,z as Ve}from"./chunk-CVKWALYI.js";import{b as M,c as Le,d as b,e as _,
f as V,g as U,h as z,j as ie,k as Ee,m as qe,n as De,o as ke,p as Ue,q as Be}from"./chunk-MQHZGXVX.js";import{h as xe,t as je,u as Fe,x as Oe}from"./chunk-6UDEE4JO.js";var nt="./icon-CQTSC6ED.svg";function ot(){let e=ie.use(),[r,o]=b(""),[s,a]=b(""),[n,l]=b(""),[c,i]=b(e.credentials==="token");return t("form",{class:"sign-in panel",onSubmit:async u=>{u.preventDefault();try{await qe(e.credentials,
c?"":r,s)}catch(f){l(f.status===401?"These are not known here.":f.message)}},children:[t("h1",{children:"Sign in"}),e.expired&&!n&&t("p",{class:"notice",role:"status",children:"Your sign-in has expire\
d. Please sign in again; the page goes on where you were."}),n&&t("p",{class:"notice bad",role:"alert",children:n}),!c&&t("label",{children:[e.credentials==="token"?"Application credential":"User",t("\
input",{name:"user",value:r,onInput:u=>o(u.currentTarget.value),autocomplete:"username",autofocus:!0,required:!0})]}),e.credentials!=="name"&&t("label",{children:[c?"Keystone token":e.credentials==="t\
oken"?"Secret":"Password",t("input",{name:"secret",type:"password",value:s,onInput:u=>a(u.currentTarget.value),autocomplete:c?"off":"current-password",required:!0})]}),t("button",{type:"submit",class:"\
main",children:"Sign in"}),e.credentials==="token"&&t("button",{type:"button",class:"plain",onClick:()=>i(!c),children:c?"Use an application credential":"Use a token"}),e.credentials==="name"&&t("p",{
class:"hint",children:"This server checks no passwords (mode basic): a name is enough."})]})}function T(e){let r;return function(){let[,s]=b(0),[a,n]=b(!1);V(()=>{r||e().then(c=>{r=c,s(1)},()=>n(!0))},[]);let l=r;return l?t(l,{}):a?t(w,{bad:!0,children:"This page could not be loaded. The serv\
er may have another version by now: load the page again."}):null}}var Ot=T(()=>import("./lazy_pages-WYTNLR7U.js").then(e=>e.Changed)),Lt=4,Et=5e3;function st({metrics:e}){let{params:r}=E.use(),[o]=b(()=>Math.min(1400,Math.max(300,document.documentElement.clientWidth-
420))),s=r.get("agg")??"mean",a=r.get("g"),n=e.length<=Lt,l=n&&s==="mean",c=[...new Set(e.flatMap(m=>m.policy.methods.filter(h=>/^[\d.]+pct$/.test(h))))].sort((m,h)=>parseFloat(m)-parseFloat(h)),i={cmp:!0,
pct:n&&c.length>0,raw:n},d=m=>i[m]&&r.get(m)==="1",u=te(e),f=X(r,u),y=Math.min(...e.map(m=>m.policy.items[0].granularity)),{value:p,error:g,loading:N}=P(async m=>{let h=async(ae,Pt)=>{let{from:K,to:ye,
span:Re}=ae,Te=G=>a&&G.items.find(jt=>jt.granularity===+a)||de(G,K,ye,o,Je(e)),$t=[s,...l?["min","max"]:[],...d("pct")?c:[]],Ne=d("raw")&&e.some(G=>Re/G.policy.items[0].granularity>Et),[Rt,Tt,Nt]=await Promise.
all([ee(e,$t,K,ye,Te,m),d("cmp")?ee(e,[s],K-Re,K,Te,m):[],d("raw")&&!Ne?Promise.all(e.map(G=>Ke(G.id,K,ye,m))):[]]);return{range:ae,columns:Rt,before:Tt,raw:Nt,method:s,tooMany:Ne,newest:Pt}},W=X(r,u),
we=await h(W,null);if(we.columns.some(ae=>ae.times.length))return we;let oe=await ue(e,W.from,m);if(!oe||r.has("from"))return{...we,newest:oe};let $e=oe+y;return h({...W,from:$e-W.span,to:$e},oe)},[e,
s,a,...["from","to","live","cmp","pct","raw"].map(m=>r.get(m))],f.live?ce(r,Math.min(30,Math.max(1,y))):0),j=z(()=>p?Bt(p):[],[p]),ne=z(()=>j.map(m=>l&&!m.derived?{...m,low:p.columns[m.color].values.min,
high:p.columns[m.color].values.max}:m),[j,l]),S=[...new Set(e.flatMap(m=>m.policy.methods))].sort((m,h)=>at(m)-at(h)||m.localeCompare(h,"en",{numeric:!0})),Q=[...new Set(e.flatMap(m=>m.policy.items.map(
h=>h.granularity)))].sort((m,h)=>m-h),D=se(e[0].name??"",e[0].unit),$=q(),F=r.get("view")==="table",Z=Ge(r),J=e.length===1?e[0].name??e[0].id:`${e.length} metrics`,O=p?.range??f,be=(m,h)=>x({from:String(
Math.floor(m)),to:String(Math.ceil(h))}),ve=(m,h,W)=>i[m]&&t("button",{type:"button","aria-pressed":d(m),title:W,onClick:()=>x({[m]:d(m)?null:"1"}),children:h});return t(M,{children:[t(et,{range:O,children:[
t("label",{class:"aside",children:["Show"," ",t("select",{"aria-label":"Aggregation method",value:s,onChange:m=>x({agg:m.currentTarget.value==="mean"?null:m.currentTarget.value}),children:(S.includes(
s)?S:[s,...S]).map(m=>t("option",{children:m},m))})]}),t("label",{class:"aside",children:["of"," ",t("select",{"aria-label":"Granularity",value:a??"",onChange:m=>x({g:m.currentTarget.value||null}),children:[
t("option",{value:"",children:"what fits"}),Q.map(m=>t("option",{value:String(m),children:L(m)},m))]})]})]}),g&&t(w,{bad:!0,children:g}),t(R,{title:J,id:"drawn",aside:t(M,{children:[ve("cmp","Before",
`Compare with the ${L(Math.round(O.span))} before`),ve("pct","Percentiles",c.join(", ")),ve("raw","Raw","Single measures, as far as they are kept"),t("button",{type:"button","aria-pressed":!!Z,title:"\
Mark a time, and see which metrics moved most",onClick:()=>x({w:Z?null:Dt(O)}),children:"What changed here?"}),t("button",{type:"button","aria-pressed":F,onClick:()=>x({view:F?null:"table"}),children:"\
Table"}),t(We,{title:"Copy",children:[t(At,{metrics:e,columns:p?.columns,method:s,range:O}),!F&&t("button",{type:"button",onClick:()=>{import("./lazy_pages-WYTNLR7U.js").then(({picture:m})=>m("drawn",
J,ne,`${le(O.from,$)} \u2013 ${le(O.to,$)} ${$}`)).then(m=>Ae(m,J+".png"))},children:"PNG"})]})]}),children:[p&&t("p",{class:"hint",id:"archive","data-from":p.range.from,children:It(p)}),p?.newest&&t(
w,{children:["Newest measure ",le(p.newest,$),p.newest<p.range.from?": ":", and none since",p.newest<p.range.from&&t("button",{type:"button",onClick:()=>be(p.newest+y-u,p.newest+y),children:"Show it"})]}),
p&&(F?t(rt,{rows:j,unit:D,zone:$,name:J}):t(H,{lines:ne,from:O.from,to:O.to,height:340,unit:D,zone:$,title:J,shades:Ut(Z),onZoom:(m,h)=>Z?x({w:`${Math.floor(m)}-${Math.ceil(h)}`}):be(m,h),onPan:be})),
!p&&N&&t("p",{class:"hint",children:"Reading \u2026"})]}),Z&&t(Ot,{}),p&&t(tt,{rows:j,unit:D,onRemove:m=>x({m:e.map(h=>h.id).filter(h=>h!==m)}),href:m=>B("metric",{id:m})})]})}var qt=["mean","max","mi\
n","sum","count","last","first","median","std"],at=e=>qt.indexOf(e)+1||99,Dt=({from:e,to:r})=>`${Math.floor(r-(r-e)/3)}-${Math.ceil(r)}`,Ut=e=>e?[{from:2*e.from-e.to,to:e.from,faint:!0},e]:[];function Bt({
range:e,columns:r,before:o,raw:s,method:a}){let n=I(r.map(c=>c.metric)),l=r.map((c,i)=>it(c,i,a,n[i]));return r.forEach((c,i)=>{let{id:d,label:u}=l[i];for(let[f,y]of Object.entries(c.values))f!==a&&/pct$/.
test(f)&&l.push({...l[i],id:d+f,label:`${u} ${f}`,values:y,look:"dotted",derived:!0});o[i]&&l.push({...it(o[i],i,a,n[i]),id:d+"before",label:`${u}, ${L(Math.round(e.span))} before`,times:o[i].times.map(
f=>f+e.span),look:"dashed",derived:!0}),s[i]?.times.length&&l.push({...l[i],id:d+"raw",label:`${u}, measures`,...s[i],look:"dots",derived:!0})}),l}function it(e,r,o,s){let[a,n]=o in e.values?[o,e.values[o]]:
Object.entries(e.values)[0]??[o,[]];return{id:e.metric.id,label:s+(a===o?"":` (${a})`),color:r,times:e.times,values:n,step:e.item.granularity}}function It({columns:e,method:r,raw:o,tooMany:s}){let a=new Set(
e.map(l=>`${r in l.values?r:Object.keys(l.values)[0]??r} of ${L(l.item.granularity)}, kept for ${L(l.item.timespan)} (archive policy ${l.metric.policy.name})`)),n=o.length?o.some(l=>l.times.length)?";\
 dots are raw measures, as far as they are kept":"; raw measures are not kept of this time":"";return"Drawn from "+[...a].join("; ")+(s?"; zoom in to see raw measures":n)}function At({metrics:e,columns:r,
method:o,range:s}){let a=Math.floor(s.from),n=Math.ceil(s.to),l=e[0],c=r?.[0]?.item.granularity??l.policy.items[0].granularity,i=`start=${a}&stop=${n}&granularity=${c}&aggregation=${encodeURIComponent(
o)}`,d=u=>e.map(u).join(`
`);return t(M,{children:[t(Y,{label:"curl",title:"Copy as curl",text:d(u=>`curl -u USER: '${ke(`/v1/metric/${u.id}/measures?${i}`)}'`)}),t(Y,{label:"Python",title:"Copy as Python",text:Wt(e.map(u=>u.id),
i)}),t(Y,{label:"gnocchi",title:"Copy for Gnocchi's client",text:d(u=>`gnocchi measures show ${u.id} --aggregation ${o} --granularity ${c} --start ${a} --stop ${n}`)}),t(Y,{label:"PromQL",title:"Copy \
as PromQL",text:e.map(Se).join(" or ")})]})}var Wt=(e,r)=>`import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(e)}:
    request = urllib.request.Request(${JSON.stringify(ke("/v1/metric/"))} + metric + ${JSON.stringify("/measures?"+r)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`,Se=e=>`{${[xe(e.name??""),...e.resource?[`resource_id=${xe(e.resource)}`]:[]].join(", ")}}`;var pe=4,Me=40;function dt(e){let{text:r,labels:o}=Oe(e),s=!r&&!o.length&&!e.has("m")&&!e.has("q"),[a,n]=b(!1),l=[r,o.join(`
`)],c=a?1:15,{value:i,error:d}=P(g=>me(r,o,g),l,c),{value:u,error:f}=P(g=>Qe(r,o,g),l,c),{value:y}=P(g=>Ze(r,o,g),l,c),p=s&&i?.length===0;return _(()=>n(p),[p]),{text:r,labels:o,series:i,counts:u,names:y,
error:d??f,empty:p}}function ut({finder:e,chosen:r}){let{text:o,labels:s,series:a,counts:n,names:l,error:c}=e,[i,d]=b(o),u=U(o);_(()=>{o!==u.current&&(u.current=o,d(o))},[o]),_(()=>{if(i===u.current)return;
let g=setTimeout(()=>{u.current=i,x({find:i||null},!0)},150);return()=>clearTimeout(g)},[i]);let f=Qt(o+`
`+s.join(`
`),l?.counts.length??0),y=z(()=>l?.counts.slice(0,f).map(({name:g,value:N})=>t(Gt,{name:g,value:N,text:o,labels:s,chosen:r,first:a?.find(j=>j.name===g)},g)),[l,a,r,f,o,s.join(`
`)]),p=n?Kt(n,s):[];return t("aside",{class:"panel finder","aria-label":"Find metrics",children:[t("div",{class:"search",children:[t("input",{type:"search",placeholder:"Find metrics","aria-label":"Fin\
d metrics by name",value:i,onInput:g=>d(g.currentTarget.value)}),t("button",{type:"button",title:"Draw an expression, in PromQL or as dynamic aggregates",onClick:()=>x({q:r.map(Se).join(" or "),m:null,
agg:null,g:null}),children:"\u0192(x)"})]}),t("div",{class:"facets",children:p.slice(0,pe).map(g=>t(lt,{facet:g,labels:s},g.name))}),p.length>pe&&t("details",{class:"more",children:[t("summary",{children:[
p.length-pe," more labels"]}),t("div",{class:"facets",children:p.slice(pe).map(g=>t(lt,{facet:g,labels:s},g.name))})]}),c&&t(w,{bad:!0,children:c}),n&&t("p",{class:"hint",id:"found",children:n.total===
1?"1 metric":`${n.total.toLocaleString("en")} metrics`}),t("ul",{class:"found",children:[y,l&&f>=l.counts.length&&l.values>l.counts.length&&t("li",{class:"hint",children:["and ",(l.values-l.counts.length).
toLocaleString("en")," more names: type, or choose above, to narrow"]})]})]})}function lt({facet:{name:e,values:r,counts:o},labels:s}){let a=s.find(([n])=>n===e)?.[1]??"";return t("select",{"aria-labe\
l":ct(e),"data-label":e,value:a,onChange:n=>x({l:[...s.filter(([l])=>l!==e),...n.currentTarget.value?[[e,n.currentTarget.value]]:[]].map(l=>l.join("="))}),children:[t("option",{value:"",children:ct(e)}),
a&&!o.some(n=>n.name===a)&&t("option",{value:a,children:a}),o.map(n=>t("option",{value:n.name,children:[n.name," (",n.value.toLocaleString("en"),")"]},n.name)),r>o.length&&t("option",{disabled:!0,children:[
"and ",(r-o.length).toLocaleString("en")," more"]})]})}var pt=(e,r)=>{let o=e.map(s=>s.id);x({q:null,lang:null,m:o.includes(r)?o.filter(s=>s!==r):[...o,r]})};function Gt({name:e,value:r,text:o,labels:s,
chosen:a,first:n}){let[l,c]=b(!1),i=a.some(u=>u.id===n?.id||u.name===e),d=async()=>{let u=n?.id??(await me(o,[...s,["__name__",e]]))[0]?.id;u&&pt(a,u)};return t("li",{children:[t("button",{type:"butto\
n","aria-pressed":r===1||i?i:void 0,"aria-expanded":r>1?l:void 0,title:n&&r===1?ht(n):e,onClick:()=>r>1?c(!l):void d(),children:[t("span",{children:[r>1&&t("i",{class:"turn",children:l?"\u25BE":"\u25B8"}),
gt(e)]}),t("small",{children:r>1?r.toLocaleString("en"):n&&bt(n)})]}),l&&r>1&&t(Vt,{name:e,value:r,text:o,labels:s,chosen:a})]})}function Vt({name:e,text:r,labels:o,chosen:s}){let{value:a,error:n}=P(i=>me(
r,[...o,["__name__",e]],i),[e,r,o.join(`
`)]),l=z(()=>{let i=I(a??[]).map(d=>d.slice(e.length).replace(/^ · /,""));return(a??[]).map((d,u)=>({s:d,title:i[u]||bt(d)||d.id})).sort((d,u)=>Ht(d.title,u.title))},[a]);if(n)return t(w,{bad:!0,children:n});
if(!a)return t("p",{class:"hint",children:"Reading \u2026"});let c=l.slice(0,Me);return t("ul",{children:[t("li",{children:t("button",{type:"button",class:"all",onClick:()=>x({q:null,lang:null,m:c.map(
({s:i})=>i.id)}),children:a.length>Me?`The first ${Me} on one chart`:`All ${a.length} on one chart`})}),l.map(({s:i,title:d})=>t("li",{children:t("button",{type:"button","aria-pressed":s.some(u=>u.id===
i.id),title:ht(i),onClick:()=>pt(s,i.id),children:t("span",{children:gt(d)})})},i.id))]})}var Ht=new Intl.Collator("en",{numeric:!0}).compare,gt=e=>e.split(/(?<=[_./,:=])/).flatMap((r,o)=>o?[t("wbr",{},
o),r]:[r]);function Qt(e,r){let[o,s]=b({of:e,lines:ze}),a=o.of===e?o.lines:ze;return _(()=>{if(a>=r)return;let n=0,l=setTimeout(()=>{n=requestIdleCallback(()=>s({of:e,lines:a+Zt}),{timeout:1e3})},a===
ze?250:0);return()=>{clearTimeout(l),cancelIdleCallback(n)}},[e,a,r]),a}var ze=40,Zt=65,ft={resource_type:"Type",project_id:"Project",original_resource_id:"Resource",archive_policy:"Policy",unit:"Unit",
user_id:"User"},ct=e=>ft[e]??e,ht=e=>[e.name,e.resource,e.place[""],...Object.entries(e.labels).map(([r,o])=>`${r}=${o}`)].filter(Boolean).join(`
`),bt=e=>e.place[""]??e.labels.instance??e.labels.job??"",mt=["job","instance","resource_type","project_id","original_resource_id"],Jt=new Set(["le","quantile"]);function Kt(e,r){let o=new Set(r.map(([
n])=>n)),s=n=>o.has(n.name)?0:mt.includes(n.name)?1+mt.indexOf(n.name):n.name in ft?99:Jt.has(n.name)?98:9,a=n=>n.counts.reduce((l,c)=>l+c.value,0);return e.facets.filter(n=>o.has(n.name)||n.values>1||
n.counts[0].value<e.total).sort((n,l)=>s(n)-s(l)||a(l)-a(n))}var vt=12,Yt=3,Xt=8,er=340;function wt({finder:e}){let{params:r}=E.use(),o=z(()=>tr(e.series??[]),[e.series]),s=o.flatMap(([,i])=>i),{value:a,error:n}=P(async i=>{let d=new Map((await He(s)).map(p=>[p.
id,p])),u=async(p,g,N)=>{let j=await ee(p.flat(),["mean"],g.from,g.to,S=>de(S,g.from,g.to,er,N),i),ne=new Map(j.map(S=>[S.metric.id,S]));return Promise.all(p.map(async S=>{let Q=S.flatMap(F=>ne.get(F.
id)??[]);if(N||r.has("from")||Q.some(F=>F.times.length))return{range:g,columns:Q};let D=await ue(S,g.from,i);if(!D)return{range:g,columns:Q};let $=D+g.span/60;return(await u([S],{...g,from:$-g.span,to:$},
D))[0]}))},f=new Map;for(let[,p]of o){let g=p.flatMap(N=>d.get(N.id)??[]);g.length&&f.set(te(g),[...f.get(te(g))??[],g])}let y=await Promise.all([...f].map(([p,g])=>u(g,X(r,p))));return new Map(y.flat().
map(p=>[p.columns[0]?.metric.id??"",p]))},[o,r.get("from"),r.get("to")],ce(r,1)),[l,c]=b(!1);return _(()=>{if(!a||l)return;let i=setTimeout(()=>c(!0));return()=>clearTimeout(i)},[a,l]),e.series?o.length?
t(M,{children:[n&&t(w,{bad:!0,children:n}),t("div",{class:"tiles",children:o.slice(0,l?vt:Yt).map(([i,d])=>a&&t(rr,{name:i,drawn:d.map(u=>a.get(u.id)).find(Boolean)},d[0].id))})]}):t(w,{children:"No m\
etric is called like that."}):e.error?null:t(w,{children:"Looking for metrics \u2026"})}function tr(e){let r=new Map;for(let a of e){let n=a.resource+"/"+a.name.replace(/\d+/g,"#"),l=r.get(n)??[];if(l.
length<Xt&&r.set(n,[...l,a]),r.size>vt){r.delete(n);break}}let o=[...r.values()],s=I(o.map(a=>({...a[0],name:a.length>1?a[0].name.replace(/\d+/g,"*"):a[0].name})));return o.map((a,n)=>[s[n],a])}function rr({
name:e,drawn:r}){if(!r?.columns.length)return null;let{columns:o,range:s}=r,a=se(e,o[0].metric.unit),n=I(o.map(i=>i.metric)),l=o.map((i,d)=>({label:n[d],color:d,times:i.times,values:Object.values(i.values)[0]??
[],step:i.item.granularity})),c=l.map(i=>i.values.at(-1)).filter(i=>i!=null);return t("a",{class:"panel tile",href:B("explore",{m:o.map(i=>i.metric.id)}),"data-name":e,children:[t("header",{children:[
t("h3",{title:e,children:e}),t("span",{class:"now",children:[c.slice(0,3).map(i=>v(i,a,3)).join(" \xB7 "),c.length>3&&" \u2026"]})]}),t(H,{lines:l,from:s.from,to:s.to,height:130,unit:a,zone:q(),title:e,
small:!0})]})}var nr=T(()=>import("./lazy_pages-WYTNLR7U.js").then(e=>e.First)),or=T(()=>import("./lazy_pages-WYTNLR7U.js").then(e=>e.QueryView));function yt(){let{params:e}=E.use(),r=dt(e),o=e.getAll("m"),s=o.join(),
[a,n]=b([]),[l,c]=b("");V(()=>{let d=!0;return c(""),Ve(o).then(u=>{if(!d)return;n(u.flatMap(y=>y.status==="fulfilled"?[y.value]:[]));let f=u.find(y=>y.status==="rejected");f&&c(f.reason.message)}),()=>{
d=!1}},[s]);let i=z(()=>a.filter(d=>o.includes(d.id)),[a,s]);return r.empty?t(nr,{}):t("div",{class:"split",children:[t(ut,{finder:r,chosen:i}),t("div",{children:[l&&t(w,{bad:!0,children:l}),e.has("q")?
t(or,{}):o.length?i.length>0&&t(st,{metrics:i}):t(wt,{finder:r})]})]})}function xt(e){let r=[];for(let o of e.split(`
`)){if(!o||o.startsWith("#"))continue;let s=/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(o);if(!s)continue;let a={};for(let[,n,l]of(s[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))a[n]=l.replace(/\\(.)/g,
(c,i)=>i==="n"?`
`:i);r.push({name:s[1],labels:a,value:Number(s[3])})}return r}function k(e,r,o={}){let s=e.filter(a=>a.name===r&&Object.entries(o).every(([n,l])=>a.labels[n]===l));return s.length?s.reduce((a,n)=>a+n.
value,0):null}var kt={damaged:"is damaged",missing:"is missing",later:"was written by a later version",unopened:"could not be opened"},ar={none:"none",up:"GPU",down:"GPU, out of use"},he=2,_t=150;function St(){let e=P(
i=>Be(je,void 0,i),[],he),r=P(async i=>({time:Date.now()/1e3,samples:xt(await(await Ue("GET",Fe,void 0,i)).text())}),[],he),o=U([]),s=U([]),[,a]=b(0);_(()=>{r.value&&(o.current=[...o.current,r.value].
slice(-_t),a(i=>i+1))},[r.value]),_(()=>{e.value?.cluster&&(s.current=[...s.current,e.value.cluster.members].slice(-1-Mt),a(i=>i+1))},[e.value]);let n=r.value?.samples,l=e.value?.cluster,c=q();return t(
M,{children:[r.error&&t(w,{bad:!0,children:r.error}),e.error&&t(w,{children:[e.error,": who holds what is shown to administrators only."]}),l?.damaged.map(i=>t(w,{bad:!0,children:[i.name," ",kt[i.fault]??
kt.damaged," (since ",i.since,"): ",i.reason]},i.name)),l&&l.members.length>1&&t(R,{title:"The cluster",aside:t("span",{children:[l.members.length," processes",l.silent?.length?", silent: "+l.silent.join(
", "):""]}),children:t("dl",{class:"figures",children:[t(C,{id:"all-accepted",name:"Measures accepted",value:A(fe(l.members.map(i=>ge(s.current,i.id,"accepted")))),about:v(fe(l.members.map(i=>i.figures?.
accepted??null)),"",12)+" in all"}),t(C,{id:"all-processed",name:"Measures processed",value:A(fe(l.members.map(i=>ge(s.current,i.id,"processed")))),about:v(fe(l.members.map(i=>i.figures?.processed??null)),
"",12)+" in all"}),t(C,{id:"all-backlog",name:"Backlog",value:v(l.sacks.reduce((i,d)=>i+d.measures,0)),about:"lag "+v(Math.max(0,...l.sacks.map(i=>i.seconds)),"seconds",3)})]})}),n&&t(M,{children:[t(R,
{title:"This process",aside:t("span",{children:["version ",n.find(i=>i.name==="gnocco_build_info")?.labels.version,", up"," ",L(Math.round(Date.now()/1e3-(k(n,"process_start_time_seconds")??0)))]}),children:t(
"dl",{class:"figures",children:[t(C,{id:"accepted",name:"Measures accepted",value:A(re(o.current,"gnocco_incoming_measures_total")),about:v(k(n,"gnocco_incoming_measures_total"),"",12)+" in all"}),t(C,
{id:"processed",name:"Measures processed",value:A(re(o.current,"gnocco_metricd_measures_processed_total"))}),t(C,{id:"backlog",name:"Backlog",value:v(k(n,"gnocco_incoming_backlog_measures")),about:"la\
g "+v(Math.max(0,k(n,"gnocco_incoming_backlog_age_seconds")??0),"seconds",3)}),t(C,{id:"metrics",name:"Metrics",value:v(k(n,"gnocco_index_metrics"),"",12)}),t(C,{id:"requests",name:"Requests",value:A(
re(o.current,"gnocco_http_requests_total")),about:v(k(n,"gnocco_http_connections"))+" connections"}),t(C,{id:"cpu",name:"Processor",value:ir(re(o.current,"process_cpu_seconds_total")),about:"of one co\
re"}),t(C,{id:"dropped",name:"Measures too old",value:v(k(n,"gnocco_metricd_measures_dropped_total",{reason:"too_old"}),"",12),about:"since the start"}),t(C,{id:"device",name:"Device",value:sr(n)})]})}),
t("div",{class:"two",children:[t(R,{title:"Measures a second",children:t(lr,{history:o.current,zone:c})}),t(R,{title:"Memory and disk",children:t(mr,{samples:n})})]}),t(R,{title:"Backlog by sack",aside:t(
"span",{children:[zt(n).length," sacks held here; a full cell is the longest backlog"]}),children:t(dr,{samples:n})})]}),l&&t(R,{title:"Members",aside:l.silent?.length?t("span",{children:["silent: ",l.
silent.join(", ")]}):void 0,children:t("div",{class:"scroll",children:t("table",{id:"members",children:[t("thead",{children:t("tr",{children:[t("th",{scope:"col",children:"Member"}),t("th",{scope:"col",
children:"Address"}),t("th",{scope:"col",children:"Roles"}),t("th",{scope:"col",class:"number",children:"Accepted"}),t("th",{scope:"col",class:"number",children:"Processed"}),t("th",{scope:"col",children:"\
Memory"}),t("th",{scope:"col",children:"Device"}),t("th",{scope:"col",children:"Version"}),t("th",{scope:"col",children:"Holds"})]})}),t("tbody",{children:l.members.map(i=>t("tr",{"data-member":i.id,children:[
t("td",{class:"mono",children:i.id}),t("td",{class:"mono",children:i.address}),t("td",{children:i.roles.join(", ")}),t("td",{class:"number","data-figure":"accepted",children:A(ge(s.current,i.id,"accep\
ted"))}),t("td",{class:"number","data-figure":"processed",children:A(ge(s.current,i.id,"processed"))}),t("td",{"data-figure":"memory",children:i.figures?v(i.figures.memory,"bytes",3)+" of "+v(i.figures.
memory_limit,"bytes",3):"\u2013"}),t("td",{"data-figure":"device",children:i.figures?ar[i.figures.device]:"\u2013"}),t("td",{"data-figure":"version",children:i.figures?.version??"\u2013"}),t("td",{children:ur(
l.claims.filter(d=>d.member===i.id).map(d=>d.name))})]},i.id))})]})})})]})}var Mt=5;function ge(e,r,o){let s=e.map(l=>l.find(c=>c.id===r)?.figures).filter(l=>l!==void 0),a=s[0],n=s.at(-1);return a&&n&&
n.uptime>a.uptime?(n[o]-a[o])/(n.uptime-a.uptime):null}function fe(e){let r=e.filter(o=>o!==null);return r.length?r.reduce((o,s)=>o+s,0):null}function re(e,r,o=Mt){let s=e.at(-1),a=e.at(-1-o)??e[0];if(!s||
s===a)return null;let n=k(a.samples,r),l=k(s.samples,r);return n===null||l===null||l<n?null:(l-n)/(s.time-a.time)}var A=e=>e===null?"\u2013":v(e,"",3)+" /s",ir=e=>e===null?"\u2013":v(100*e,"percent",3);
function sr(e){return e.filter(o=>o.name.startsWith("gnocco_gpu_")).length?(k(e,"gnocco_gpu_up")??1)>0?"GPU":"GPU, out of use":"none"}function lr({history:e,zone:r}){let o=(a,n,l)=>{let c=[],i=[];for(let d=1;d<
e.length;d++)c.push(e[d].time),i.push(re(e.slice(0,d+1),n,1));return{label:a,color:l,times:c,values:i,step:he*2}},s=e.at(-1)?.time??Date.now()/1e3;return t(H,{lines:[o("accepted","gnocco_incoming_meas\
ures_total",0),o("processed","gnocco_metricd_measures_processed_total",1)],from:s-he*_t,to:s,height:180,unit:"",zone:r,title:"Measures a second"})}var cr=["index","incoming","sacks"];function mr({samples:e}){
let r=k(e,"process_resident_memory_bytes")??0,o=k(e,"go_gc_gomemlimit_bytes")??0,s=k(e,"gnocco_memory_used_bytes")??0,a=k(e,"gnocco_memory_budget_bytes")??0,n=cr.map(c=>[c,k(e,"gnocco_store_disk_bytes",
{store:c})??0]),l=Math.max(1,...n.map(([,c])=>c));return t(M,{children:[t(Ce,{id:"memory",name:"Memory of the process",value:r,of:o<1e18?o:0}),t(Ce,{id:"budget",name:"Held by requests",value:s,of:a}),
n.map(([c,i])=>t(Ce,{id:"disk-"+c,name:"Disk: "+c,value:i,share:i/l},c))]})}function Ce({id:e,name:r,value:o,of:s,share:a}){return t("div",{id:e,"data-value":o,children:[t("div",{class:"aside",children:[
t("span",{children:r}),t("b",{style:{marginLeft:"auto"},children:[v(o,"bytes",3),s?" of "+v(s,"bytes",3):""]})]}),t("div",{class:"meter",children:t("i",{style:{width:100*Math.min(1,a??(s?o/s:0))+"%"}})})]})}
var zt=e=>e.filter(r=>r.name==="gnocco_sack_backlog_measures").sort((r,o)=>+r.labels.sack-+o.labels.sack);function dr({samples:e}){let r=zt(e),o=Math.max(1,...r.map(s=>s.value));return t("div",{class:"\
strip",role:"img","aria-label":`Backlog of ${r.length} sacks, ${v(Math.max(0,...r.map(s=>s.value)))} at most`,children:r.map(s=>t("i",{"data-sack":s.labels.sack,"data-value":s.value,title:`sack ${s.labels.
sack}: ${v(s.value)} measures wait, ${v(k(e,"gnocco_sack_backlog_age_seconds",{sack:s.labels.sack}),"seconds",3)}`,style:{background:`color-mix(in srgb, var(--warm) ${Math.round(100*s.value/o)}%, var(\
--accent-soft))`}},s.labels.sack))})}function ur(e){let r=e.filter(a=>a.startsWith("sacks/")).map(a=>+a.slice(6)).sort((a,n)=>a-n),o=[];for(let a=0;a<r.length;a++){let n=a;for(;r[n+1]===r[n]+1;)n++;o.
push(n>a?`${r[a]}\u2013${r[n]}`:`${r[a]}`),a=n}let s=e.filter(a=>!a.startsWith("sacks/")).map(a=>a.startsWith("incoming/")?"an incoming store":"the "+a);return[...new Set(s),...o.length?[(r.length===1?
"sack ":"sacks ")+o.join(", ")]:[]].join(", ")||"nothing"}var Ct=[{name:"explore",title:"Explore",page:yt},{name:"policies",title:"Policies",page:T(()=>import("./lazy_pages-WYTNLR7U.js").then(e=>e.Policies))},{name:"correlations",title:"Correlations",page:T(
()=>import("./lazy_pages-WYTNLR7U.js").then(e=>e.Correlations))},{name:"server",title:"Server",page:St},{name:"metric",page:T(()=>import("./lazy_pages-WYTNLR7U.js").then(e=>e.MetricPage))}];function pr(){
let e=Intl.DateTimeFormat().resolvedOptions().timeZone||"UTC",r=q(),[o,s]=b([]);_(()=>{let n=setTimeout(()=>s(Intl.supportedValuesOf("timeZone")),1500);return()=>clearTimeout(n)},[]);let a=z(()=>[...new Set(
[e,"UTC",r,...o])],[e,r,o]);return t("select",{"aria-label":"Time zone",value:r,onChange:n=>x({tz:n.currentTarget.value===e?null:n.currentTarget.value}),children:a.map(n=>t("option",{value:n,children:n.
replaceAll("_"," ")},n))})}var Pe=null;document.addEventListener("focusin",e=>{Pe=e.target});function gr(){let e=E.use(),r=ie.use(),o=Ee.use(),s=Ye.use(),a=Ct.find(c=>c.name===e.page),n=a?.page;_(()=>{
document.title=(a?.title??"Metric")+" \xB7 Gnocco"},[a]);let l=U(e.page);return V(()=>{(e.page!==l.current||Pe&&!Pe.isConnected)&&_e(),l.current=e.page},[e]),t(M,{children:[t("a",{class:"skip",href:"#\
main",onClick:c=>{c.preventDefault(),_e()},children:"To the content"}),t("header",{class:"top",children:[t("a",{class:"brand",href:"#/explore",children:[t("img",{src:nt,alt:"",width:"22",height:"22"}),
"Gnocco"]}),t("nav",{"aria-label":"Pages",children:Ct.map(c=>c.title&&t("a",{href:B(c.name),"aria-current":c.name===e.page?"page":void 0,children:c.title},c.name))}),t("div",{class:"settings",children:[
t(pr,{}),t("button",{type:"button",class:"icon","aria-label":s==="dark"?"Light colours":"Dark colours",title:s==="dark"?"Light colours":"Dark colours",onClick:Xe,children:s==="dark"?"\u2600":"\u263E"}),
r.credentials!=="none"&&r.user&&t("button",{type:"button",onClick:De,title:"Sign in as somebody else",children:r.user})]})]}),t("main",{id:"main",tabIndex:-1,children:[o&&t(ot,{}),!o&&a?.title&&t(Ie,{
hidden:!0,children:a.title},a.name),!o&&(n?t(n,{},e.page+r.user):t(w,{children:["There is no page of this name. ",t("a",{href:B("explore"),children:"Explore"})," is where to begin."]}))]})]})}Le(t(gr,
{}),document.getElementById("app"));
