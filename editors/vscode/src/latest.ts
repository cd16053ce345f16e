/**
 * Makes work whose last call counts: use gets what that made, and what an
 * earlier call makes after it, never.
 */
export function latest<T>(work: () => Promise<T>, use: (made: T) => void): () => Promise<void> {
  let calls = 0;
  return async () => {
    const call = ++calls;
    const made = await work();
    if (call === calls) use(made);
  };
}
