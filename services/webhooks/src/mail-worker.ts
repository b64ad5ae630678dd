import { sleep } from '@quittance/shared/clock';
import type { Stoppable } from '@quittance/shared/start-service';
import { startWorker } from '@quittance/shared/worker';
import { sendMails } from './operations/send-mails.ts';
import type { Ports } from './ports.ts';

const LOOK_EVERY_MS = 1_000;
const STOP_WITHIN_MS = 3_000;

/** Sends mails where there is a mail server. An attempt that hangs when the process stops is ended, and the mail is sent again. */
export function startMailWorker(ports: Ports): Stoppable {
  const { mailer, logger } = ports;
  if (mailer === undefined) return { stop: async () => undefined };
  const worker = startWorker({
    name: 'send mails',
    everyMs: LOOK_EVERY_MS,
    step: () => sendMails(ports),
    logger,
  });
  return {
    async stop() {
      const ended = worker.stop();
      await Promise.race([ended, sleep(STOP_WITHIN_MS)]);
      mailer.close();
      await ended;
    },
  };
}
