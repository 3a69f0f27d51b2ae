import './page.css';
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';

/** The page whose title was focused last; null before the first page, which the browser announces itself. */
let lastPath: string | null = null;

interface PageProps {
  title: string;
  /** Before the title, such as a link back to the list. */
  back?: ReactNode;
  /** One line below the title. */
  description?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/**
 * The frame of every page: a title, which is the window's title too, and the content. Navigation focuses the title, so
 * that screen readers announce the page and Tab continues from there.
 */
export function Page({ title, back, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title.length > 80 ? `${title.slice(0, 80)}…` : title} · dbvitals`;
  }, [title]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const { pathname } = location;
    if (lastPath !== null && lastPath !== pathname) heading.current?.focus({ preventScroll: true });
    lastPath = pathname;
  }, []);
  return (
    <div className="page">
      {back && <div className="page-back">{back}</div>}
      <header className="page-header">
        <div className="page-heading">
          <Title heading={heading} title={title} />
          {description && <p className="page-description">{description}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Longer titles may need more than the three lines that are shown. */
const LONG_TITLE = 120;

/** The title; a long one is shortened and can be expanded. */
function Title({ title, heading }: { title: string; heading: RefObject<HTMLHeadingElement | null> }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = title.length > LONG_TITLE;
  return (
    <>
      <h1 className={isLong && !isWhole ? 'cut-title' : undefined} ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {isLong && (
        <Button aria-expanded={isWhole} kind="quiet" onPress={() => setWhole(!isWhole)} small>
          {isWhole ? 'Show less' : 'Show full name'}
        </Button>
      )}
    </>
  );
}

interface SectionProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A section of a page with its own title. */
export function Section({ title, description, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="section">
      <header className="section-header">
        <div>
          <h2 id={id}>{title}</h2>
          {description && <p className="page-description">{description}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Filters and search above a list, on one line if there is room. */
export function Filters({ children }: { children: ReactNode }) {
  return <div className="filters">{children}</div>;
}

/** Names and values side by side. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
