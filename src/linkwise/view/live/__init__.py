"""A served chain in the browser as it runs, by a process of its own: `LiveView`."""
