import { expect, test } from '@jest/globals';
import { readQuery } from './query.ts';

test.each([
  ['', {}],
  ['page=2&status=paid', { page: '2', status: 'paid' }],
  ['page=1&page=2', { page: '2' }],
  ['status[]=paid', { status: ['paid'] }],
  ['status%5B%5D=paid&status[]=pending', { status: ['paid', 'pending'] }],
  ['status[0]=paid&status[x]=pending', { status: ['paid', 'pending'] }],
  ['kinds=a&kinds=b', { kinds: ['a', 'b'] }],
  ['kinds=a', { kinds: 'a' }],
  ['kinds[]=a&kinds[]=b', { kinds: ['a', 'b'] }],
  ['a=%zz&b', { a: '%zz', b: '' }],
  ['__proto__[x]=1', { ['__proto__']: ['1'] }],
  ['[]=1&x]=2', { '[]': '1', 'x]': '2' }],
])('the query %s', (text, query) => {
  expect({ ...readQuery(text, ['kinds']) }).toEqual(query);
});
