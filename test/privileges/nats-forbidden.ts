import {
  type BusUser,
  bucketNames,
  bucketStream,
  buckets,
  PROVISIONER,
  STREAM,
} from '@quittance/shared/bus-connection';
import { ADMIN } from '@quittance/shared/bus-permissions';
import {
  type CommandName,
  commandSubject,
  commands,
  missingSubject,
  oldestSubject,
} from '@quittance/shared/commands';
import { events, type Service, services, subjectOf } from '@quittance/shared/events';
import { commandNames, kinds, members, readers, streams } from './nats-fixture.ts';

/*
 * What each service’s user may not do on NATS, in the words of the tables: who sends, who asks, who writes.
 */

export const othersThan = (user: BusUser) => members.filter((other) => other !== user);
const mayAsk = (user: BusUser, command: CommandName) =>
  (commands[command].askedBy as readonly BusUser[]).includes(user);
const mayRead = (user: BusUser, bucket: (typeof bucketNames)[number]) =>
  (buckets[bucket].readBy as readonly BusUser[]).includes(user);
export const sendsTo = (user: BusUser, to: Service) =>
  kinds.some((kind) => events[kind].from === user && (events[kind].to as readonly Service[]).includes(to));

export const hearsFrom = (user: BusUser, from: Service) =>
  kinds.some((kind) => events[kind].from === from && (events[kind].to as readonly BusUser[]).includes(user));

/** By what it would be: subjects that a user may not publish. */
export const forbidden: Record<string, (user: BusUser) => string[]> = {
  'an event in another’s name': (user) =>
    kinds
      .filter((kind) => events[kind].from !== user)
      .flatMap((kind) => events[kind].to.map((to) => subjectOf(kind, to))),
  'another’s event in its own name': (user) =>
    kinds
      .filter((kind) => events[kind].from !== user)
      .flatMap((kind) => services.map((to) => `evt.${user}.${to}.${kind}`)),
  'an event to whom it is not for': (user) =>
    kinds
      .filter((kind) => events[kind].from === user)
      .flatMap((kind) =>
        services
          .filter((to) => !(events[kind].to as readonly Service[]).includes(to))
          .map((to) => subjectOf(kind, to)),
      ),
  'a question it has no business to ask': (user) => [
    ...commandNames.filter((command) => !mayAsk(user, command)).map(commandSubject),
    ...services.filter((to) => !sendsTo(user, to)).map(missingSubject),
    ...services.filter((from) => !hearsFrom(user, from)).map(oldestSubject),
    'rpc.ledger.anything',
  ],
  'a request for another’s messages': (user) =>
    readers
      .filter((reader) => reader !== user)
      .map((reader) => `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${reader}`),
  'an acknowledgement of another’s messages': (user) =>
    readers.filter((reader) => reader !== user).map((reader) => `$JS.ACK.${STREAM}.${reader}.1.1.1.1.0`),
  'a change of any durable': (user) => [
    // The provisioner makes one again that is past the end of its stream.
    ...readers
      .filter(() => user !== PROVISIONER)
      .flatMap((reader) => [
        `$JS.API.CONSUMER.CREATE.${STREAM}.${reader}`,
        `$JS.API.CONSUMER.CREATE.${STREAM}.${reader}.evt.*.${reader}.>`,
        `$JS.API.CONSUMER.DELETE.${STREAM}.${reader}`,
      ]),
    ...readers.flatMap((reader) => [
      `$JS.API.CONSUMER.DURABLE.CREATE.${STREAM}.${reader}`,
      `$JS.API.CONSUMER.PAUSE.${STREAM}.${reader}`,
      `$JS.API.CONSUMER.LEADER.STEPDOWN.${STREAM}.${reader}`,
    ]),
  ],
  'a consumer of its own making': (user) => [
    `$JS.API.CONSUMER.CREATE.${STREAM}`,
    `$JS.API.CONSUMER.CREATE.${STREAM}.mine`,
    `$JS.API.CONSUMER.CREATE.${STREAM}.mine.evt.>`,
    ...bucketNames.flatMap((bucket) => [
      `$JS.API.CONSUMER.CREATE.${bucketStream(bucket)}`,
      `$JS.API.CONSUMER.CREATE.${bucketStream(bucket)}.mine.$KV.${bucket}.>`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${bucketStream(bucket)}.${user}`,
    ]),
  ],
  'a look at others’ durables': (user) => [
    `$JS.API.CONSUMER.LIST.${STREAM}`,
    `$JS.API.CONSUMER.NAMES.${STREAM}`,
    ...readers
      .filter((reader) => user !== PROVISIONER && reader !== user)
      .map((reader) => `$JS.API.CONSUMER.INFO.${STREAM}.${reader}`),
  ],
  'a stream deleted, emptied or changed': () => [
    ...streams.flatMap((name) =>
      ['DELETE', 'PURGE', 'UPDATE', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE', 'LEADER.STEPDOWN'].map(
        (what) => `$JS.API.STREAM.${what}.${name}`,
      ),
    ),
    '$JS.API.STREAM.CREATE.MINE',
  ],
  'a message read by its number': () => [
    ...streams.flatMap((name) => [`$JS.API.STREAM.MSG.GET.${name}`, `$JS.API.DIRECT.GET.${name}`]),
    `$JS.API.DIRECT.GET.${STREAM}.evt.ledger.invoices.credit.recorded`,
  ],
  'anything else of JetStream': () => [
    '$JS.API.INFO',
    '$JS.API.STREAM.LIST',
    '$JS.API.STREAM.NAMES',
    '$JS.API.ACCOUNT.PURGE.$G',
    '$JS.API.META.LEADER.STEPDOWN',
    '$JS.FC.EVT.x.y',
    '$SYS.REQ.SERVER.PING',
  ],
  'a bucket that is another’s to write': (user) =>
    bucketNames.filter((bucket) => buckets[bucket].writtenBy !== user).map((bucket) => `$KV.${bucket}.ETH`),
  'a bucket that is not for it to read': (user) =>
    bucketNames
      .filter((bucket) => !mayRead(user, bucket))
      .map((bucket) => `$JS.API.DIRECT.GET.${bucketStream(bucket)}.$KV.${bucket}.ETH`),
  'an answer to a question that was never put to it': (user) => [
    ...othersThan(user).map((other) => `_INBOX.${other}.forged`),
    `_INBOX.${ADMIN}.forged`,
  ],
};
