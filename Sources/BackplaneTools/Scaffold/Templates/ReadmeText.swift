/// The README of a new package.
enum ReadmeText {
    static func package(_ layers: ManagerLayers, library: String, commands: [String]) -> String {
        """
        # \(library)

        A plugin for Backplane hosts. `Sources/\(library)` contains it, and `backplane.json` is a manifest that names its
        library.

        ```sh
        \(commands.joined(separator: "\n"))
        ```

        `backplane new manager NAME --dac --service` adds a manager and its collaborators, `backplane new plugin NAME` another plugin.

        """
    }

    static func routes(_ name: String, url: String) -> String {
        """
        # \(name)

        An application that serves HTTP. `Sources/\(name)` contains its plugin, and `backplane.json` is the manifest,
        which names the plugin's library and the address of the server.

        ```sh
        swift test
        backplane dev
        curl \(url)/notes
        ```

        `backplane dev` builds what you save, and then swaps it in while requests go on: the next one runs the new code,
        and the page at \(url)/ reloads itself. `backplane run` serves what `swift build` has built.

        """
    }

    static func app(_ name: String, plugin: String, commands: [String]) -> String {
        """
        # \(name)

        A program that runs plugins. `Sources/\(name)` contains the program, `Sources/\(plugin)` its first plugin, and
        `Sources/\(name)Contracts` the contracts between them. `backplane.json` is the manifest.

        ```sh
        \(commands.joined(separator: "\n"))
        ```

        Run `swift build` first, because `swift run` builds only the program and not the libraries that it loads. While the program runs, control it
        from another terminal:

        ```sh
        backplane call \(name)Manager items --running
        backplane swap \(plugin)
        ```

        """
    }
}
