import { useLayoutEffect, useState } from "preact/hooks";

// Store is a value that components follow.
export class Store<T> {
  private followers = new Set<() => void>();
  constructor(private value: T) {}
  get(): T {
    return this.value;
  }
  set(value: T) {
    if (value === this.value) return;
    this.value = value;
    for (const follower of [...this.followers]) follower();
  }
  use(): T {
    const [, tick] = useState(0);
    useLayoutEffect(() => {
      const follower = () => tick((n) => n + 1);
      this.followers.add(follower);
      return () => {
        this.followers.delete(follower);
      };
    }, []);
    return this.value;
  }
}
