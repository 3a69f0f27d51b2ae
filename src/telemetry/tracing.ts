/** What a span tells of: names and figures of ours, never a key, a value of a query or a body. */
export interface Step {
  name: string;
  /** `server` answers somebody, `client` asks the store and is told of only within another step. */
  kind?: 'server' | 'client';
  attributes: Record<string, string | number>;
  /** The W3C headers of whoever asked. */
  caller?: { traceparent: string | undefined; tracestate: string | undefined };
  /** What others name this step by, to be linked with it. */
  known?: object;
  /** Steps of which this one does a part: it belongs to none of them, and is linked with each. */
  serves?: readonly object[];
}

/** Adds to what the span tells, until it ends. */
type Tell = (attributes: Step['attributes']) => void;

/** Does the work of a step, and tells of it. */
export type Tracer = <T>(step: Step, work: (tell: Tell) => Promise<T>) => Promise<T>;

let tracer: Tracer | null = null;

/** From now on `to` hears of every step; null = nobody does. What opens a pool must come after it. */
export function traceTo(to: Tracer | null): void {
  tracer = to;
}

/** Whether anybody hears of steps. */
export function isTraced(): boolean {
  return tracer !== null;
}

const untold: Tell = () => {};

/** Does the work; where steps are traced (docs/decisions/0043) as a span of its own, a part of the step that it runs in. */
export function traced<T>(step: () => Step, work: (tell: Tell) => Promise<T>): Promise<T> {
  return tracer === null ? work(untold) : tracer(step(), work);
}
