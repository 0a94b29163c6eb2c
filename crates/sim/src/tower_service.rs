//! The tower service of a simulated API.

/// Implements `tower::Service` for a cloneable type with `async fn send(self, request)`. It is always ready.
macro_rules! impl_tower_service {
    ($service:ty, $body:ty, $error:ty) => {
        impl<B> tower::Service<http::Request<B>> for $service
        where
            B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
            B::Error: Send,
        {
            type Response = http::Response<$body>;
            type Error = $error;
            type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, $error>> + Send>>;

            fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), $error>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: http::Request<B>) -> Self::Future {
                Box::pin(self.clone().send(request))
            }
        }
    };
}
