// SPDX-License-Identifier: GPL-2.0-or-later
//
// A box that opens over a view. It closes on Escape, on a click elsewhere, and when the focus leaves it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Popup({ title, children }: { title: string; children: ComponentChildren }) {
    const element = useRef<HTMLDetailsElement>(null);
    useEffect(() => {
        const close = (): void => { if (element.current) element.current.open = false; };
        const outside = (event: Event): void => {
            if (element.current?.open && !element.current.contains(event.target as Node)) close();
        };
        const escape = (event: KeyboardEvent): void => {
            if (event.key !== "Escape" || !element.current?.open) return;
            close();
            element.current.querySelector("summary")?.focus();
        };
        addEventListener("pointerdown", outside);
        addEventListener("focusin", outside);
        addEventListener("keydown", escape);
        return () => {
            removeEventListener("pointerdown", outside);
            removeEventListener("focusin", outside);
            removeEventListener("keydown", escape);
        };
    }, []);
    return (
        <details class="columns" ref={element}>
            <summary>{title}</summary>
            <div class="popup">{children}</div>
        </details>
    );
}
