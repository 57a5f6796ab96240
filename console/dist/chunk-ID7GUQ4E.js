var _=new URL("..",location.href.split("#")[0]).href.replace(/\/$/,""),i=document.documentElement.dataset.credentials||"none";function y(t,e){let n=new TextEncoder().encode(t+":"+e);return{Authorization:"\
Basic "+btoa(String.fromCharCode(...n))}}var D=i==="password"||i==="token",R={"X-Gnocco-Session":"1"},S="user of "+new URL(_).pathname,P=localStorage.getItem(S)||null,f=i==="none"?{}:i==="name"?y(P??"\
admin",""):P===null?null:R,U=(t,e,n)=>fetch(_+t,{method:"GET",headers:{Accept:"application/json",...e},signal:n,credentials:C(e)}),C=t=>t===R?"same-origin":"omit",c=new Map,j=3e3;function J(t){if(!f||
c.has(t))return;let e=()=>{},n=U(t,f).then(r=>{let s=r.text();return s.catch(e),r.text=()=>s,r});n.catch(e),c.set(t,n)}async function N(t){let e=c.get(t);if(c.delete(t),!e||performance.now()>j)return null;
let n=await e.catch(()=>null);return n?.ok?n:null}var b=t=>t.replace(/[\\^$.|?*+()[\]{}]/g,"\\$&"),a=t=>'"'+t.replace(/\\/g,"\\\\").replace(/"/g,'\\"').replace(/\n/g,"\\n")+'"';function p(t,e){let n=t.trim().split(/\s+/).filter(Boolean).map(r=>`__nam\
e__=~${a("(?is).*"+b(r)+".*")}`);return"{"+[...n.length||e.some(([r])=>r==="__name__")?n:['__name__!=""'],...e.map(([r,s])=>`${r}=${a(s)}`)].join(",")+"}"}var $=300,L=(t,e)=>"/api/v1/series?"+new URLSearchParams(
[...t.map(n=>["match[]",n]),["limit",String(e)],["ids","true"]]),d=(t,e)=>L([t],e),k=(t,e)=>d(p(t,e),$),A=t=>d(`{metric_id=~${a(t.map(b).join("|"))}}`,0),Q=t=>d(`{resource_id=~${a(t.join("|"))}}`,0),I=(t,e)=>[
u(p(t,e),[]),...e.map(([n])=>u(p(t,e.filter(([r])=>r!==n)),[n]))],u=(t,e,n="50")=>"/api/v1/series_count?"+new URLSearchParams([["match[]",t],["limit",n],...e.map(r=>["label",r])]),q=(t,e)=>u(p(t,e),["\
__name__"],"1000"),h="/v1/archive_policy",E="/v1/archive_policy_rule",F="/v1/rebuild",B="/v1/resource_type",w="/v1/correlations",G=t=>w+"/"+encodeURIComponent(t),v="/v1/boards",H=t=>v+"/"+encodeURIComponent(
t),T="/v1/status?details=false",z="/metrics",m=t=>"/v1/metric/"+encodeURIComponent(t),K=t=>h+"/"+encodeURIComponent(t)+"/cost",M=t=>({text:t.get("find")??"",labels:t.getAll("l").map(e=>e.split(/=(.*)/s).
slice(0,2))});function X(t){let[e,n]=t.replace(/^#\/?/,"").split(/\?(.*)/s);return{page:e||"explore",params:new URLSearchParams(n??"")}}function V(t){let{page:e,params:n}=X(t),r=n.get("id"),s=n.get("j\
ob"),x=n.get("policy");switch(e){case"explore":{let{text:g,labels:l}=M(n),o=n.getAll("m");return[...o.length===1?[m(o[0])]:[...o.length?[A(o)]:[],h],k(g,l),...I(g,l),q(g,l)]}case"metric":return r?[m(r),
m(r)+"/archive"]:[];case"policies":return[h,E,F,...x?[K(x)]:[]];case"boards":return[n.has("id")?H(n.get("id")):v];case"correlations":return[w,B,...s?[G(s)+"?limit=1"]:[]];case"server":return n.has("ta\
b")?[]:[T,z]}return[]}export{_ as a,i as b,y as c,D as d,R as e,S as f,P as g,f as h,U as i,C as j,J as k,N as l,a as m,p as n,L as o,k as p,A as q,Q as r,I as s,q as t,h as u,E as v,F as w,B as x,w as y,G as z,v as A,H as B,
T as C,z as D,m as E,K as F,M as G,X as H,V as I};
