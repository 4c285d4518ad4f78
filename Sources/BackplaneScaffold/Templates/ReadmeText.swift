/// The README of a new package.
enum ReadmeText {
    static func package(_ layers: ManagerLayers, library: String, commands: [String]) -> String {
        """
        # \(library)

        A plugin for Backplane hosts. `Sources/\(library)Module` contains everything except the function that the
        library exports, which is in `Sources/\(library)`. `backplane.json` is a manifest that names the library.

        ```sh
        \(commands.joined(separator: "\n"))
        ```

        `backplane new manager NAME --dac --service` adds a manager and its collaborators, `backplane new plugin NAME` another plugin.

        """
    }

    static func app(_ name: String, plugin: String, commands: [String]) -> String {
        """
        # \(name)

        A program that runs plugins. `Sources/\(name)` is the program, `Sources/\(plugin)Module` its first plugin and `Sources/\(plugin)` the one function that
        this exports, `Sources/\(name)Contracts` what they ask of each other, `backplane.json` what is to run.

        ```sh
        \(commands.joined(separator: "\n"))
        ```

        `swift build` comes first: `swift run` alone builds the program, and not the libraries that it loads. While it runs, from another terminal:

        ```sh
        backplane call \(name)Manager items --running
        backplane swap \(plugin)
        ```

        """
    }
}
