/** A step that becomes a span. It contains our own names and figures, never a key, a query's value or a body. */
export interface Step {
  name: string;
  /** `server` answers a request; `client` queries the store and is traced only within another step. */
  kind?: 'server' | 'client';
  attributes: Record<string, string | number>;
  /** The caller's W3C headers. */
  caller?: { traceparent: string | undefined; tracestate: string | undefined };
  /** The object by which other steps link to this one. */
  known?: object;
  /** The steps that this one works for. It is a child of none and linked with each. */
  serves?: readonly object[];
}

/** Adds attributes to the span, until it ends. */
type Tell = (attributes: Step['attributes']) => void;

/** Runs the work of a step and traces it. */
export type Tracer = <T>(step: Step, work: (tell: Tell) => Promise<T>) => Promise<T>;

let tracer: Tracer | null = null;

/** Sends every later step to `to`; null = no tracing. Call it before opening a pool. */
export function traceTo(to: Tracer | null): void {
  tracer = to;
}

/** Whether steps are traced. */
export function isTraced(): boolean {
  return tracer !== null;
}

const untold: Tell = () => {};

/** Runs the work. If steps are traced (docs/decisions/0043), it becomes a span within the step that it runs in. */
export function traced<T>(step: () => Step, work: (tell: Tell) => Promise<T>): Promise<T> {
  return tracer === null ? work(untold) : tracer(step(), work);
}
