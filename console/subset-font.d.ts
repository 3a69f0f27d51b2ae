declare module 'subset-font' {
  interface Options {
    targetFormat: 'woff2';
    variationAxes: Record<string, { min: number; max: number; default: number }>;
  }
  /** The font with these characters alone. */
  export default function subsetFont(font: Buffer, characters: string, options: Options): Promise<Buffer>;
}
