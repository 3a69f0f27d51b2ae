import './starting.css';
import { Brand } from './brand.tsx';

/** Shown while the profile loads. */
export function Starting() {
  return (
    <main className="starting">
      <h1>
        <Brand />
      </h1>
      <p className="quiet" role="status">
        Starting…
      </p>
    </main>
  );
}
