import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { type IdentifiedSpan, ROOT, type Span, type SpanExporter, spanIdOf, traceIdOf } from './traces.ts';

/* The one file that imports OpenTelemetry. `openTracer` loads it, where a collector is set. */

/** The collector is asked again within this time, when it answers that it may be. */
const SEND_WITHIN_MS = 3_000;

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const satisfies Record<Span['kind'], SpanKind>;

/**
 * Sends spans as OTLP over HTTP to `/v1/traces` below `endpoint`.
 * @param headers in the form of OTEL_EXPORTER_OTLP_HEADERS
 */
export function openSpanExporter(
  service: string,
  instance: string,
  { endpoint, headers }: { endpoint: string; headers: string | undefined },
): SpanExporter {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(headers),
    timeoutMillis: SEND_WITHIN_MS,
  });
  const resource = resourceFromAttributes({
    'service.name': service,
    'service.namespace': 'quittance',
    'service.instance.id': instance,
  });
  const scope = { name: 'quittance' };
  return {
    send: (spans) =>
      new Promise((resolve, reject) => {
        const readable = spans.map((span) => readableSpan(span, resource, scope));
        exporter.export(readable, ({ code, error }) => {
          // ExportResultCode.SUCCESS; the package of that name is a dependency of the exporter alone.
          if (code === 0) resolve();
          else reject(error ?? new Error('the collector did not take them'));
        });
      }),
    close: () => exporter.shutdown(),
  };
}

/** `name=value` pairs, separated by commas; values may be percent-encoded. */
const readHeaders = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    }),
  );

const contextOf = (traceId: string, spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });

function readableSpan(
  span: IdentifiedSpan,
  resource: ReadableSpan['resource'],
  instrumentationScope: ReadableSpan['instrumentationScope'],
): ReadableSpan {
  const { of, traceId, spanId, parentSpanId, start, end, error, links = [] } = span;
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => contextOf(traceId, spanId),
    ...(parentSpanId === undefined ? {} : { parentSpanContext: contextOf(traceId, parentSpanId) }),
    startTime: hrTime(start.getTime()),
    endTime: hrTime(end.getTime()),
    duration: hrTime(end.getTime() - start.getTime()),
    status:
      error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: {
      [`quittance.${of.is}.id`]: of.id,
      ...span.attributes,
      ...(error === undefined ? {} : { 'error.type': error }),
    },
    links: links.map((other) => ({ context: contextOf(traceIdOf(other), spanIdOf(other, ROOT)) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
