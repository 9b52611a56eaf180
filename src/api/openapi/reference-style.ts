/** The style of the reference page: narrow screens first, light and dark by the reader's own setting. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --faint: #57606a; --page: #fff; --raised: #f4f6f8; --line: #d0d7de; --link: #0757b8;
  --get: #0757b8; --post: #176635; --delete: #a40e26; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9aa4af; --page: #0d1117; --raised: #161b22; --line: #3d444d;
  --link: #79b8ff; --get: #79b8ff; --post: #5fd38a; --delete: #ff8b94; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: .5rem 1rem; z-index: 1; }
nav, main { padding: 1rem; }
main { max-width: 60rem; min-width: 0; }
nav { border-bottom: 1px solid var(--line); }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li a { display: block; padding: .3rem 0; text-decoration: none; }
nav li a:hover { text-decoration: underline; }
nav h2 { font-size: .85rem; margin: 0; color: var(--faint); }
h1 { line-height: 1.2; margin: 0 0 .5rem; }
h2 { margin: 2.5rem 0 .5rem; }
h3 { margin: 2rem 0 .25rem; }
h4 { margin: 1.25rem 0 .25rem; }
article { border-top: 1px solid var(--line); }
code, pre { font-family: var(--mono); font-size: .875em; }
code { background: var(--raised); border-radius: .25rem; padding: .1em .3em; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; overflow-x: auto; overflow-wrap: normal; }
pre code { background: none; padding: 0; }
.route { font-family: var(--mono); margin: .25rem 0; }
.method { font-weight: 700; }
.get, .head { color: var(--get); }
.post { color: var(--post); }
.delete { color: var(--delete); }
.faint { color: var(--faint); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
th, td { overflow-wrap: break-word; }
td p { margin: 0; }
summary { cursor: pointer; padding: .35rem 0; }
details > :not(summary) { margin-left: 1rem; }
@media (min-width: 64rem) {
  .columns { display: grid; grid-template-columns: 18rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  main { padding: 2rem 3rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;
