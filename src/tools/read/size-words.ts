/** `512 bytes`, `12.3 KB`, `3.75 MB`: a kilobyte is 1024 bytes. */
export function sizeWords(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const megabytes = bytes / 1024 / 1024;
  return megabytes < 1 ? `${round(bytes / 1024)} KB` : `${round(megabytes)} MB`;
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
