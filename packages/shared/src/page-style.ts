/**
 * The style sheet of the pages for customers. It follows the light or dark mode of the reader and the direction of the language.
 * The QR code stays dark on white, which scanners expect: on a wide screen it is beside the address, on a narrow one
 * closed below it. On paper the page is a receipt.
 */
export const pageStyle = `
:root{color-scheme:light dark;--ground:#f2f4f7;--card:#fff;--fill:#f6f7f9;--ink:#14171d;--soft:#545c69;--line:#dfe3e9;
--accent:#2a50d4;--on:#fff;--good:#0b6b41;--warn:#8a4b00}
@media (prefers-color-scheme:dark){:root{--ground:#0e1014;--card:#181b21;--fill:#20242c;--ink:#eef0f4;--soft:#a6aebb;
--line:#323843;--accent:#92abff;--on:#10131a;--good:#58d69a;--warn:#f3b661}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:start center;padding:1rem;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{width:100%;max-width:29rem;min-width:0;background:var(--card);border:1px solid var(--line);border-radius:1.1rem;
padding:1.5rem;box-shadow:0 10px 34px rgb(16 24 40/.07)}
h1{margin:0;font-size:1.55rem;line-height:1.25;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{margin:1.5rem 0 0;font-size:.875rem;font-weight:600;color:var(--soft)}
p{margin:.5rem 0 0}
a{color:var(--accent)}
.soft{color:var(--soft)}.good{color:var(--good)}.warn{color:var(--warn)}
.shop{display:flex;align-items:center;gap:.75rem;margin-bottom:.9rem;font-size:1.0625rem;font-weight:600;overflow-wrap:anywhere}
.shop img{display:block;max-width:7rem;max-height:2.75rem;border-radius:.4rem}
.state{display:flex;align-items:center;gap:.5rem;margin:0 0 .6rem;font-size:.875rem;font-weight:600;color:var(--accent)}
.state.good{color:var(--good)}.state.warn{color:var(--warn)}
.icon{flex:none;width:2.25rem;height:2.25rem;padding:.5rem;border-radius:50%;background:var(--fill);fill:none;stroke:currentColor;
stroke-width:2.2;stroke-linecap:round;stroke-linejoin:round}
.turn .icon{animation:turn 1.6s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
@media (prefers-reduced-motion:reduce){.turn .icon{animation:none}}
.note{margin-top:1rem;padding:.75rem .9rem;border-radius:.7rem;background:var(--fill);border-inline-start:3px solid var(--accent)}
.note.warn{color:inherit;border-color:var(--warn)}
.note strong{display:block}
progress{display:block;width:100%;height:.5rem;margin:1rem 0 0;border:0;border-radius:1rem;background:var(--line);
overflow:hidden;appearance:none;-webkit-appearance:none}
progress::-webkit-progress-bar{background:var(--line)}
progress::-webkit-progress-value{background:var(--accent)}
progress::-moz-progress-bar{background:var(--accent)}
.order,.facts{display:grid;grid-template-columns:fit-content(50%) 1fr;gap:.35rem 1rem;margin:1.1rem 0 0;padding-top:1rem;
border-top:1px solid var(--line)}
.order{margin:0 0 1.2rem;padding:0 0 1rem;border-top:0;border-bottom:1px solid var(--line)}
.order:empty{display:none}
dt{color:var(--soft);font-size:.9375rem}
dd{margin:0;min-width:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.order dd,.facts dd{font-size:.9375rem;text-align:right}
[dir=rtl] .order dd,[dir=rtl] .facts dd{text-align:left}
.facts dd.copy{grid-column:1/-1;text-align:left}
.pay{margin-top:1.1rem}
.pay dl{margin:0}
.pay dt{margin-top:.75rem}
.copy{padding:.55rem .7rem;border:1px solid var(--line);border-radius:.6rem;background:var(--fill);
font:.9375rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;direction:ltr;text-align:start;
user-select:all;-webkit-user-select:all}
.copy button{margin-inline-start:.7rem;padding:.1rem .6rem;border:1px solid var(--line);border-radius:.5rem;
background:var(--card);color:var(--accent);font:600 .8125rem/1.5 system-ui,sans-serif;cursor:pointer;
user-select:none;-webkit-user-select:none}
.unseen{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)}
.code{display:block;width:100%;max-width:15rem;height:auto;margin:0 auto;border-radius:.7rem}
figure{margin:0}
.wide{display:none}
summary{margin-top:1rem;padding:.6rem 0;color:var(--accent);font-weight:600;cursor:pointer}
.button{display:block;margin-top:1rem;padding:.8rem 1rem;border:1px solid var(--accent);border-radius:.7rem;
background:var(--accent);color:var(--on);text-align:center;text-decoration:none;font-weight:600}
.button.quiet{background:transparent;color:var(--accent);border-color:var(--line)}
button.button{width:100%;font:inherit;font-weight:600;cursor:pointer}
button:disabled{opacity:.55;cursor:default}
.button small{display:block;font-weight:400}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.5rem}
form{margin-top:1.1rem}
form>.button{margin-top:.6rem}
label{display:block;font-size:.9375rem;color:var(--soft)}
input{display:block;width:100%;margin:.3rem 0 .9rem;padding:.7rem .8rem;border:1px solid var(--soft);border-radius:.7rem;
background:var(--card);color:var(--ink);font:inherit}
ul{list-style:none;margin:.5rem 0 0;padding:0}
li{padding:.5rem 0;border-top:1px solid var(--line);font-variant-numeric:tabular-nums}
li span{display:inline-block}
li span+span{margin-inline-start:.6rem}
li code{display:block;font-size:.8125rem;overflow-wrap:anywhere;color:var(--soft)}
.back{margin-top:1.1rem;text-align:center}
@media (max-width:24rem){body{padding:.5rem}main{padding:1.1rem}}
@media (min-width:48rem){
body{place-items:center}
main:has(.pay){max-width:50rem;padding:2rem}
.pay{display:grid;grid-template-columns:15rem minmax(0,1fr);gap:0 2rem;align-items:start}
.wide{display:block;grid-row:1/span 3}
.narrow{display:none}
.pay .button{grid-column:2;margin-top:0}
.pay dl,.wallets{grid-column:2}
}
@media print{
:root{--ground:#fff;--card:#fff;--fill:#fff;--ink:#000;--soft:#333;--line:#bbb;--accent:#000;--good:#000;--warn:#000}
body{display:block;padding:0}
main{max-width:none;border:0;box-shadow:none;padding:0}
.button,.back,.screen,summary,.icon{display:none}
}
`;
