import { expect, it } from '@jest/globals';
import { html } from './html.ts';

it('escapes each text once', () => {
  expect(html`<a title="${`"'<&>`}">${'<b>'}</a>`.text).toBe(
    '<a title="&quot;&#39;&lt;&amp;&gt;">&lt;b&gt;</a>',
  );
  expect(html`<p>${html`<b>${'&'}</b>`}</p>`.text).toBe('<p><b>&amp;</b></p>');
});

it('joins lists, and renders undefined as nothing', () => {
  expect(html`<ul>${[1, 2].map((n) => html`<li>${n}</li>`)}${undefined}</ul>`.text).toBe(
    '<ul><li>1</li><li>2</li></ul>',
  );
});
