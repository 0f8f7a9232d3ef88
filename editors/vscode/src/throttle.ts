/** Calls f at most once in ms, and once more after the last call. */
export function throttled(f: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  return function call() {
    if (timer) {
      again = true;
      return;
    }
    f();
    timer = setTimeout(() => {
      timer = undefined;
      if (again) {
        again = false;
        call();
      }
    }, ms);
  };
}
