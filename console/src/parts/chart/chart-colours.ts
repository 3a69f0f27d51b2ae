import { useTheme } from '../../theme.ts';
import { useTimeZone } from '../../time-zone.ts';
import { useMedia } from '../use-media.ts';

/** A canvas can't use custom properties: resolves a token to its current colour. */
export function colourOf(place: HTMLElement, token: string): string {
  place.style.color = `var(${token})`;
  const { color } = getComputedStyle(place);
  place.style.color = '';
  return color;
}

/** Changes with the theme of the page and of the device, and with the time zone: a canvas is drawn again then. */
export function useLook(): string {
  const isDark = useMedia('(prefers-color-scheme: dark)');
  return `${useTheme()} ${useTimeZone()} ${isDark}`;
}
