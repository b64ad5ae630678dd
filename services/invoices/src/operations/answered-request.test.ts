import { expect, it } from '@jest/globals';
import type { Ports } from '../ports.ts';
import { answerOnce } from './answered-request.ts';

const ports = {} as Pick<Ports, 'db'>;
const answer = { status: 201, body: {} };
const lost = new Error('Connection terminated unexpectedly');

it('promises nothing when the answer to the commit was lost, and hands on an earlier error', async () => {
  const unknown = answerOnce(ports, undefined, answer, async (written) => {
    written();
    throw lost;
  });
  await expect(unknown).rejects.toMatchObject({
    message: expect.stringContaining('not known'),
    cause: lost,
  });
  const undone = answerOnce(ports, undefined, answer, () => Promise.reject(lost));
  await expect(undone).rejects.toBe(lost);
});
