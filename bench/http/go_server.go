// go_server PORT: net/http with one handler, a peer of bench/http.
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	body := []byte("hello, world\n")
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write(body)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
	os.Exit(1)
}
