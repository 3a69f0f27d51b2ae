import './button.css';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import type { ButtonKind } from './button.tsx';
import { Icon, type IconName } from './icons.tsx';

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  kind?: ButtonKind;
  icon?: IconName;
  children?: ReactNode;
  ref?: Ref<HTMLAnchorElement>;
}

function Anchor({ kind = 'plain', icon, children, ref, ...props }: AnchorProps) {
  return (
    <a {...props} className={`button ${kind}`} ref={ref}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}

/**
 * A page link that looks like a button. Takes the props of the router's Link (`to`, `params`, `search`). For a plain
 * link, use the router's `Link`.
 */
export const ButtonLink = createLink(Anchor);
