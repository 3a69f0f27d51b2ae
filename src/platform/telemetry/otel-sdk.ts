import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { version } from '../package-root.ts';
import type { TraceSettings } from './trace-settings.ts';
import { type Step, type Tracer, traceTo } from './tracing.ts';

// As many as a batch of the gate (api/gate/admit.ts). The standard's own limit is 128.
const MOST_LINKS = 500;

// When the queue of 8,192 spans (about 1,000 requests) is full, spans are dropped, so that requests never wait for a collector.
const LONGEST_QUEUE = 8_192;

/**
 * Sends a span of every step to the collector that the standard's variables name. It is loaded only if they are set, because
 * loading takes 0.26 s on a busy machine and 45 MB. Returns a function that sends the remaining spans, within one export's
 * time, and stops.
 */
export function startTraces(
  { sampler, ratio, timeoutMs }: TraceSettings,
  build: string,
  log: Pick<Logger, 'warn'>,
): () => Promise<void> {
  const tell = (message: string) => log.warn({ reason: message }, "traces can't be sent");
  const quiet = () => {};
  diag.setLogger(
    { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'dbvitals', 'service.version': build }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    sampler: samplerOf(sampler, ratio),
    spanLimits: { linkCountLimit: MOST_LINKS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ timeoutMillis: timeoutMs }),
        maxQueueSize: LONGEST_QUEUE,
      }),
    ],
  });
  traceTo(tracerOf(provider));
  return async () => {
    traceTo(null);
    await provider.shutdown().catch((error: Error) => tell(error.message));
  };
}

/** The standard's names, "SDK Environment Variables", `OTEL_TRACES_SAMPLER`. */
function samplerOf(name: TraceSettings['sampler'], ratio: number): Sampler {
  const [, own = name] = /^parentbased_(.*)/.exec(name) ?? [];
  const root =
    own === 'always_on'
      ? new AlwaysOnSampler()
      : own === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return own === name ? root : new ParentBasedSampler({ root });
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

function tracerOf(provider: TracerProvider): Tracer {
  const tracer = provider.getTracer('dbvitals', version);
  const running = new AsyncLocalStorage<Context>();
  const known = new WeakMap<object, Span>();

  /** Null = no span: a statement outside of any step, or work for requests that were not sampled. */
  function begin({ name, kind, attributes, caller, serves }: Step): { span: Span; context: Context } | null {
    const parent = serves ? undefined : running.getStore();
    if (kind === 'client' && parent === undefined) return null;
    const links = serves
      ?.map((one) => known.get(one))
      .filter((span) => span?.isRecording())
      .flatMap((span) => span?.spanContext() ?? []);
    if (links?.length === 0) return null;
    const context = parent ?? (caller ? contextOf(caller) : ROOT_CONTEXT);
    const options = {
      kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
      attributes,
      links: links?.map((of) => ({ context: of })) ?? [],
    };
    const span = tracer.startSpan(name, options, context);
    for (const one of serves ?? []) known.get(one)?.addLink({ context: span.spanContext() });
    return { span, context: trace.setSpan(context, span) };
  }

  return async (step, work) => {
    const begun = begin(step);
    if (!begun) return step.serves ? running.exit(() => work(() => {})) : work(() => {});
    const { span, context } = begun;
    if (step.known) known.set(step.known, span);
    try {
      return await running.run(context, () =>
        work((attributes) => {
          span.setAttributes(attributes);
          if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
        }),
      );
    } catch (error) {
      // Only its name, because a message of the store may contain values.
      span.setAttribute('error.type', error instanceof Error ? error.name : 'error');
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };
}

const propagator = new W3CTraceContextPropagator();

/** The context of the caller, as https://www.w3.org/TR/trace-context/ has it; an invalid header counts as none. */
function contextOf(caller: NonNullable<Step['caller']>): Context {
  return propagator.extract(ROOT_CONTEXT, caller, defaultTextMapGetter);
}
