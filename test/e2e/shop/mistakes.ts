import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkAnswer } from '@quittance/testkit/documented-answers';
import type { Merchant } from '@quittance/testkit/merchant';
import { mistakes } from '../mistakes-table.ts';
import type { OnStack } from './on-stack.ts';

/** What developers get wrong while they integrate, and what the answer tells them to do. */

type ErrorBody = {
  message: string;
  errors?: Record<string, string[]>;
  code: string;
  hint: string;
  request_id: string;
  doc_url: string;
};

export const mistakeCases = (stack: OnStack): void =>
  describe('a typical mistake is answered with what to do', () => {
    let shop: Merchant;
    let pageOfErrors: string;

    beforeAll(async () => {
      shop = await stack().merchant();
      pageOfErrors = await (await fetch(`${stack().url}/docs/errors`)).text();
    });

    async function ask(text: string) {
      const [, method = '', path = '', body = ''] = /^(\w+) (\S+) ?(.*)$/s.exec(text) ?? [];
      const headers = { authorization: `Bearer ${shop.token}`, 'content-type': 'application/json' };
      const order = { method, headers, ...(method === 'POST' ? { body } : {}) };
      const answer = await fetch(`${stack().url}${path}`, order);
      const { status, headers: told } = answer;
      const error = (await answer.json()) as ErrorBody;
      checkAnswer({ method, path, status, contentType: told.get('content-type') ?? '', body: error });
      return { status, headers: told, body: error };
    }

    test('the table has at least 46 of them', () => {
      expect(mistakes.length).toBeGreaterThanOrEqual(46);
    });

    test.each(mistakes)('$what: $send', async ({ send: text, status, field, message, hint }) => {
      const { status: answered, headers, body } = await ask(text);
      const said = field === undefined ? [body.message] : body.errors?.[field];
      expect({ status: answered, said, hint: body.hint }).toEqual({
        status,
        said: [message],
        hint: expect.stringContaining(hint),
      });
      if (field !== undefined) expect(body.message).toBe('The given data was invalid.');
      expect(body.request_id).toBe(headers.get('x-request-id'));
      expect(body.doc_url).toBe(`${stack().url}/docs/errors#${body.code}`);
      expect(pageOfErrors).toContain(`id="${body.code}"`);
    });
  });
