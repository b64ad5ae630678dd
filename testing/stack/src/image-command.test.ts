import { expect, test } from '@jest/globals';
import { imageCommand } from './image-command.ts';

const checkout = '/checkout/';

test('a program of the checkout is where the image has it, and its arguments stay', () => {
  const file = '/checkout/node_modules/.pnpm/node/bin/bitcoind';
  const args = ['-regtest', '-datadir=/data/bitcoin', '/data', '../up', ''];
  expect(imageCommand({ file, args }, checkout)).toEqual({
    entrypoint: ['/app/node_modules/.pnpm/node/bin/bitcoind'],
    args,
  });
});

test('a script of the checkout is run by the Node of the image', () => {
  const args = ['/checkout/testing/engines/src/surfpool-node.ts', '{"port":1}'];
  expect(imageCommand({ file: process.execPath, args }, checkout)).toEqual({
    entrypoint: ['node'],
    args: ['/app/testing/engines/src/surfpool-node.ts', '{"port":1}'],
  });
});

test('a program that is elsewhere is in no image', () => {
  expect(() => imageCommand({ file: '/usr/bin/bitcoind', args: [] }, checkout)).toThrow(
    '/usr/bin/bitcoind is not in /checkout/, so no image has it',
  );
});
